#include "experiments/report/bar_figure.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "experiments/report/number_text.h"
#include "experiments/report/svg_theme.h"

namespace ringside {
namespace {

constexpr double kHeadingRows = 0.9;  // that a heading takes, in rows
constexpr double kGapRows = 0.3;      // before a heading that is not the first

// From the top, in rows.
struct Layout {
  std::vector<double> places;                            // of the bars
  std::vector<std::pair<double, std::string>> headings;  // where, and what
  double bottom = 0;
};

Layout LayOut(const std::vector<Bar>& bars) {
  Layout layout;
  double place = -1;
  for (size_t i = 0; i < bars.size(); ++i) {
    place += 1;
    if (!bars[i].group.empty() && (i == 0 || bars[i].group != bars[i - 1].group)) {
      if (i > 0) place += kGapRows;
      layout.headings.emplace_back(place, bars[i].group);
      place += kHeadingRows;
    }
    layout.places.push_back(place);
  }
  layout.bottom = place + 1;
  return layout;
}

std::string Headings(const Layout& layout) {
  std::string script;
  for (const auto& [place, text] : layout.headings) {
    absl::StrAppendFormat(&script,
                          "set label %s at graph 0, first %.3f left offset 0.3,0 textcolor rgb "
                          "'%s'\n",
                          PlotQuoted(text), place, kInkSentinel);
  }
  return script;
}

std::string Marks(const std::vector<Bar>& bars, const Layout& layout) {
  std::vector<std::string> marks;
  for (size_t i = 0; i < bars.size(); ++i)
    marks.push_back(absl::StrCat(PlotQuoted(bars[i].label), " ", layout.places[i]));
  return absl::StrJoin(marks, ", ");
}

size_t LongestLabel(const std::vector<Bar>& bars) {
  size_t longest = 3;
  for (const Bar& bar : bars) longest = std::max(longest, bar.label.size());
  return std::min<size_t>(longest, 24);
}

// One data set and plot for each colour, thin ones last.
std::vector<std::string> AddData(const std::vector<Bar>& bars, const Layout& layout,
                                 std::string* data) {
  std::map<std::pair<bool, std::string>, std::string> sets;
  for (size_t i = 0; i < bars.size(); ++i) {
    for (const BarPart& part : bars[i].parts) {
      absl::StrAppend(&sets[{part.thin, part.colour}], layout.places[i], " ",
                      ExactNumber(part.begin), " ", ExactNumber(part.end), "\n");
    }
  }
  std::vector<std::string> plots;
  for (const auto& [key, lines] : sets) {
    const auto& [thin, colour] = key;
    plots.push_back(absl::StrFormat(
        "'data' index %d using 2:1:2:3:($1%s):($1+0.36) with boxxyerror lc rgb '%s'", plots.size(),
        thin ? "+0.18" : "-0.36", colour));
    absl::StrAppend(data, lines, "\n\n");
  }
  return plots;
}

}  // namespace

void DrawBars(const std::vector<Bar>& bars, const std::vector<LegendEntry>& legend,
              const std::string& x_label, Figure* figure) {
  const Layout layout = LayOut(bars);
  // The height decides where the legend is, and the legend how much of the height is left.
  figure->height = 70 + LegendHeight(legend, *figure) + static_cast<int>(22 * layout.bottom);
  const std::vector<std::string> plots = AddData(bars, layout, &figure->data);
  figure->script = absl::StrCat(
      PlotStyle(), PlotLegend(legend, *figure), "unset grid\nset grid xtics lc rgb '", kInkSentinel,
      "' lt 1 lw 1\nset border 0\nset style fill solid 1.0 noborder\n",
      "set tics scale 0\nset xtics autofreq\nset xrange [0:*]\nset yrange [", layout.bottom - 0.4,
      ":-0.6]\n", "set lmargin ", static_cast<double>(LongestLabel(bars)) * 0.95 + 1.5,
      "\nset ytics (", Marks(bars, layout), ")\n", Headings(layout), PlotAxisLabel("x", x_label),
      plots.empty() ? "plot -1 notitle\n" : PlotCommand(plots));
}

}  // namespace ringside
