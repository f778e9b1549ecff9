// Pieces of gnuplot scripts that all figures share. Pure functions.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_PLOT_SCRIPT_H_
#define RINGSIDE_EXPERIMENTS_REPORT_PLOT_SCRIPT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "experiments/report/figure.h"

namespace ringside {

// As a string of a script, with nothing in it that gnuplot would expand.
std::string PlotQuoted(const std::string& text);

// Colours and marks of axes and grid; no key of gnuplot's own.
std::string PlotStyle();

// The name of an axis, "x" or "y".
std::string PlotAxisLabel(absl::string_view axis, const std::string& text);

// A y axis from 0 to a round number at or above `most`, with four or five steps.
std::string PlotRoundAxis(double most);

struct LegendEntry {
  std::string label;
  std::string colour;
};

// A legend above the plot, over as many lines as it needs, and the upper and lower margins that go
// with it. gnuplot's own key cannot flow, so this one is made of labels.
std::string PlotLegend(const std::vector<LegendEntry>& entries, const Figure& figure);

// What the lines of that legend take, in units of the drawing.
int LegendHeight(const std::vector<LegendEntry>& entries, const Figure& figure);

// "plot a, b, c"
std::string PlotCommand(const std::vector<std::string>& plots);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_PLOT_SCRIPT_H_
