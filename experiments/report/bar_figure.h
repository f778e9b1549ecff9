// Horizontal bars made of parts, in groups with headings. Pure.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_BAR_FIGURE_H_
#define RINGSIDE_EXPERIMENTS_REPORT_BAR_FIGURE_H_

#include <string>
#include <vector>

#include "experiments/report/figure.h"
#include "experiments/report/plot_script.h"

namespace ringside {

struct BarPart {
  std::string colour;  // "#rrggbb"
  double begin = 0;    // along the x axis
  double end = 0;
  bool thin = false;  // drawn over the others, along the lower edge
};

struct Bar {
  std::string group;  // bars of one group follow each other
  std::string label;
  std::vector<BarPart> parts;
};

// Fills in script, data and height. Name, title, caption and CSV are the caller's.
void DrawBars(const std::vector<Bar>& bars, const std::vector<LegendEntry>& legend,
              const std::string& x_label, Figure* figure);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_BAR_FIGURE_H_
