#include "experiments/report/plot_script.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "experiments/report/number_text.h"
#include "experiments/report/svg_theme.h"

namespace ringside {
namespace {

// Of an entry of the legend, in units of the drawing, from the upper left.
struct Spot {
  double x = 0;
  double y = 0;
};

std::vector<Spot> LegendSpots(const std::vector<LegendEntry>& entries, const Figure& figure) {
  // The width of a letter is an estimate.
  constexpr double kLeft = 8;
  constexpr double kSwatch = 13;
  constexpr double kGap = 18;
  constexpr double kLine = 20;
  constexpr double kLetter = 7.3;
  std::vector<Spot> spots;
  double x = kLeft;
  double y = 14;
  for (const LegendEntry& entry : entries) {
    const double width = kSwatch + kLetter * static_cast<double>(entry.label.size());
    if (x > kLeft && x + width > figure.width - 4) {
      x = kLeft;
      y += kLine;
    }
    spots.push_back({x, y});
    x += width + kGap;
  }
  return spots;
}

}  // namespace

std::string PlotQuoted(const std::string& text) {
  return absl::StrCat(
      "'", absl::StrReplaceAll(text, {{"'", "''"}, {"\n", " "}, {"\r", " "}, {"`", " "}}), "'");
}

std::string PlotStyle() {
  return absl::StrCat("unset key\nset errorbars 0\nset border 1 lc rgb '", kInkSentinel, "'\n",
                      "set tics nomirror out scale 0.4 textcolor rgb '", kInkSentinel, "'\n",
                      "set ytics scale 0\n", "set grid ytics lc rgb '", kInkSentinel,
                      "' lt 1 lw 1\n", "set rmargin 1.5\n");
}

std::string PlotAxisLabel(absl::string_view axis, const std::string& text) {
  return absl::StrCat("set ", axis, "label ", PlotQuoted(text), " textcolor rgb '", kInkSentinel,
                      "'", axis == "x" ? " offset 0,0.55" : " offset 0.8,0", "\n");
}

std::string PlotRoundAxis(double most) {
  if (!(most > 0) || !std::isfinite(most)) return "set yrange [0:1]\n";
  const double rough = most / 4;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.5, 2.0, 1.0}) {
    if (factor * power >= rough * 0.999) step = factor * power;
  }
  return absl::StrCat("set ytics ", ExactNumber(step),
                      "\nset yrange [0:", ExactNumber(step * std::ceil(most / step)), "]\n");
}

std::string PlotLegend(const std::vector<LegendEntry>& entries, const Figure& figure) {
  constexpr double kBelow = 52;  // for the marks and the name of the x axis
  std::string script;
  const std::vector<Spot> spots = LegendSpots(entries, figure);
  for (size_t i = 0; i < entries.size(); ++i) {
    absl::StrAppendFormat(&script,
                          "set label %s at screen %.4f,%.4f left point pt 5 ps 0.85 lc rgb '%s' "
                          "offset 0.9,-0.28 textcolor rgb '%s'\n",
                          PlotQuoted(entries[i].label), spots[i].x / figure.width,
                          1 - spots[i].y / figure.height, entries[i].colour, kInkSentinel);
  }
  absl::StrAppendFormat(&script, "set tmargin at screen %.4f\nset bmargin at screen %.4f\n",
                        1 - (LegendHeight(entries, figure) + 14.0) / figure.height,
                        kBelow / figure.height);
  return script;
}

int LegendHeight(const std::vector<LegendEntry>& entries, const Figure& figure) {
  const std::vector<Spot> spots = LegendSpots(entries, figure);
  return spots.empty() ? 10 : static_cast<int>(spots.back().y) + 6;
}

std::string PlotCommand(const std::vector<std::string>& plots) {
  return absl::StrCat("plot ", absl::StrJoin(plots, ", \\\n     "), "\n");
}

}  // namespace ringside
