// A figure of a report: its numbers as CSV and the gnuplot script that draws them.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_FIGURE_H_
#define RINGSIDE_EXPERIMENTS_REPORT_FIGURE_H_

#include <string>

namespace ringside {

struct Figure {
  std::string name;  // of its files, and prefix of the ids inside: letters and underscores
  std::string title;
  std::string caption;  // plain text, one or two sentences
  std::string csv;      // all that the figure shows, numbers in full; header line first
  std::string script;   // plot commands, reading `data` as 'data'; terminal and output are set by
                        // whoever draws it
  std::string data;     // as the script reads it
  int width = 420;      // units of the drawing, in which text is 13 high
  int height = 280;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_FIGURE_H_
