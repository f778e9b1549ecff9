#include "experiments/report/sensitivity_figure.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "experiments/report/crossovers.h"
#include "experiments/report/csv_table.h"
#include "experiments/report/curves.h"
#include "experiments/report/number_text.h"
#include "experiments/report/plot_script.h"
#include "experiments/report/series.h"
#include "experiments/report/setting_text.h"
#include "experiments/report/svg_theme.h"

namespace ringside {
namespace {

constexpr double kDecade = 10;
// Marks that fit beside each other along the axis.
constexpr size_t kMostMarks = 8;

bool SpansADecade(const std::vector<double>& numbers) {
  const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  return !numbers.empty() && *least > 0 && *most > kDecade * *least;
}

// Where the values of a set are along the x axis.
class ValuePlaces {
 public:
  explicit ValuePlaces(const CurveSet& set) : set_(set) {
    for (size_t i = 0; i < set.values.size(); ++i) {
      places_.push_back(set.axis.has_value() ? *set.axis->Read(set.values[i])
                                             : static_cast<double>(i));
    }
    logarithmic_ = set.axis.has_value() && SpansADecade(places_);
    const auto [least, most] = std::minmax_element(places_.begin(), places_.end());
    if (logarithmic_) {
      low_ = *least / std::pow(*most / *least, kMargin);
      high_ = *most * std::pow(*most / *least, kMargin);
    } else {
      const double margin = set.axis.has_value() ? kMargin * (*most - *least) : 0.5;
      low_ = *least - margin;
      high_ = *most + margin;
    }
  }

  double At(size_t index) const { return places_[index]; }
  double low() const { return low_; }
  double high() const { return high_; }

  // A little aside, so that no series hides another; `share` of the width.
  double Aside(double place, double share) const {
    if (logarithmic_) return place * std::pow(high_ / low_, share);
    return place + share * (high_ - low_);
  }

  // Of the width, from the left.
  double Share(double place) const {
    if (logarithmic_) return std::log(place / low_) / std::log(high_ / low_);
    return (place - low_) / (high_ - low_);
  }

  std::string Script() const {
    std::vector<std::string> marks;
    const size_t stride = (places_.size() + kMostMarks - 1) / kMostMarks;
    for (size_t i = 0; i < places_.size(); i += stride) {
      const std::string text = set_.axis.has_value()
                                   ? MarkText(places_[i])
                                   : SettingValueText(set_.setting, set_.values[i]);
      marks.push_back(absl::StrCat(PlotQuoted(text), " ", ExactNumber(places_[i])));
    }
    return absl::StrCat(logarithmic_ ? "set logscale x\nunset mxtics\n" : "", "set xtics (",
                        absl::StrJoin(marks, ", "), ")\nset xrange [", ExactNumber(low_), ":",
                        ExactNumber(high_), "]\n", PlotAxisLabel("x", Label()));
  }

 private:
  static constexpr double kMargin = 0.08;

  // The unit of bandwidths and latencies is in the label.
  std::string MarkText(double number) const {
    const bool bytes = set_.axis->quantity() == SettingAxis::Quantity::kBytes;
    return bytes ? Bytes(number) : RoundedNumber(number);
  }
  std::string Label() const {
    if (!set_.axis.has_value()) return absl::AsciiStrToLower(SettingTitle(set_.setting));
    switch (set_.axis->quantity()) {
      case SettingAxis::Quantity::kBandwidth:
        return "bandwidth of the network, Mbit/s";
      case SettingAxis::Quantity::kLatency:
        return "latency of the network, µs";
      default:
        return absl::AsciiStrToLower(SettingTitle(set_.setting));
    }
  }

  const CurveSet& set_;
  std::vector<double> places_;  // of set_.values
  bool logarithmic_ = false;
  double low_ = 0;
  double high_ = 0;
};

bool IsAlong(const Crossover& crossover, const CurveSet& set) {
  return set.axis.has_value() && crossover.setting() == set.setting &&
         crossover.unit() == set.axis->Unit() && crossover.workers() == set.context.workers &&
         Point(crossover.point().begin(), crossover.point().end()) == set.context.point;
}

// Lines and bands of the crossovers, and what the caption says of them.
class Markers {
 public:
  Markers(const ComparisonResult& comparison, const CurveSet& set, const ValuePlaces& places) {
    for (const Crossover& crossover : comparison.crossovers()) {
      if (IsAlong(crossover, set)) Add(crossover, places);
    }
  }

  const std::string& script() const { return script_; }
  const std::string& caption() const { return caption_; }

 private:
  void Add(const Crossover& crossover, const ValuePlaces& places) {
    const double at = crossover.value().median();
    // Labels of several lie below each other, on the side that has more room.
    const bool left = places.Share(at) > 0.5;
    ++count_;
    absl::StrAppendFormat(
        &script_,
        "set object %d rectangle from first %s,graph 0 to first %s,graph 1 behind fc rgb '%s' "
        "fillstyle transparent solid 0.12 noborder\n"
        "set arrow from first %s,graph 0 to first %s,graph 1 nohead dt 2 lw 1.5 lc rgb '%s'\n"
        "set label %s at first %s,graph %.3f %s offset %s,0 font ',11' textcolor rgb '%s'\n",
        count_, ExactNumber(std::max(crossover.value().low(), places.low())),
        ExactNumber(std::min(crossover.value().high(), places.high())), kInkSentinel,
        ExactNumber(at), ExactNumber(at), kInkSentinel,
        PlotQuoted(
            absl::StrCat(crossover.interpolated() ? "" : "near ", CrossoverNumber(crossover, at))),
        ExactNumber(at), 1.02 - 0.08 * count_, left ? "right" : "left", left ? "-0.6" : "0.6",
        kInkSentinel);
    absl::StrAppend(&caption_, " ", CrossoverText(crossover), ".");
  }

  std::string script_;
  std::string caption_;
  int count_ = 0;
};

// Of one set: its data, plots and CSV.
class Drawing {
 public:
  Drawing(const CurveSet& set, const SeriesNames& names, const ValuePlaces& places)
      : set_(set),
        places_(places),
        csv_({"series", "workers", "point", set.setting, "step_s_low", "step_s_median",
              "step_s_high", "samples_per_s"}) {
    for (size_t i = 0; i < set.curves.size(); ++i) AddCurve(set.curves[i], i, names);
  }

  void Finish(Figure* figure) const {
    const bool logarithmic = SpansADecade(medians_);
    const double least = *std::min_element(medians_.begin(), medians_.end());
    figure->csv = csv_.Text();
    figure->data = data_;
    absl::StrAppend(&figure->script, PlotLegend(legend_, *figure), places_.Script(),
                    "set lmargin 8\nset format y '", most_ >= 10 ? "%.0f" : "%g", "'\n");
    if (logarithmic) {
      absl::StrAppend(&figure->script, "set logscale y\nset format y '%g'\nset yrange [",
                      ExactNumber(least * 0.7), ":", ExactNumber(most_ * 1.3), "]\n");
    } else {
      absl::StrAppend(&figure->script, PlotRoundAxis(most_));
    }
    absl::StrAppend(&figure->script, PlotAxisLabel("y", "median step, ms"));
  }
  std::string Plots() const { return PlotCommand(plots_); }

 private:
  void AddCurve(const Curve& curve, size_t index, const SeriesNames& names) {
    const double middle = (static_cast<double>(set_.curves.size()) - 1) / 2;
    const double aside =
        (set_.axis.has_value() ? 0.008 : 0.03) * (static_cast<double>(index) - middle);
    bool any = false;
    for (size_t i = 0; i < set_.values.size(); ++i) {
      const Cell* cell = CellAt(curve, set_.values[i]);
      if (cell == nullptr) continue;
      any = true;
      AddPoint(curve, *cell, set_.values[i], places_.Aside(places_.At(i), aside));
    }
    if (!any) return;
    absl::StrAppend(&data_, "\n\n");
    const std::string colour = names.Colour(curve.series);
    if (set_.axis.has_value() || curve.level) {
      plots_.push_back(
          absl::StrFormat("'data' index %d using 1:2 with lines lw 2 dt %d lc rgb '%s'", blocks_,
                          curve.level ? 3 : 1, colour));
    }
    plots_.push_back(absl::StrFormat(
        "'data' index %d using 1:2:3:4 with yerrorbars pt 7 ps 0.6 lw 1.8 lc rgb '%s'", blocks_,
        colour));
    ++blocks_;
    legend_.push_back({curve.series, colour});
  }

  void AddPoint(const Curve& curve, const Cell& cell, const std::string& value, double place) {
    const Interval& step = cell.step_s();
    medians_.push_back(step.median() * 1e3);
    most_ = std::max(most_, step.high() * 1e3);
    csv_.AddRow({curve.series, absl::StrCat(cell.workers()), PointText(PointOf(cell)), value,
                 ExactNumber(step.low()), ExactNumber(step.median()), ExactNumber(step.high()),
                 ExactNumber(cell.samples_per_s().median())});
    absl::StrAppend(&data_, ExactNumber(place), " ", ExactNumber(step.median() * 1e3), " ",
                    ExactNumber(step.low() * 1e3), " ", ExactNumber(step.high() * 1e3), "\n");
  }

  const CurveSet& set_;
  const ValuePlaces& places_;
  CsvTable csv_;
  std::string data_;
  std::vector<std::string> plots_;
  std::vector<LegendEntry> legend_;
  std::vector<double> medians_;  // in ms
  double most_ = 0;
  int blocks_ = 0;
};

std::string Caption(const CurveSet& set) {
  const std::string where = set.context.Text();
  std::string caption = absl::StrCat(where, where.empty() ? "" : ". ",
                                     "Median step of all trials, with its 95 % interval. Lower is "
                                     "better.");
  std::vector<std::string> level;
  for (const Curve& curve : set.curves) {
    if (curve.level) level.push_back(curve.series);
  }
  if (!level.empty())
    absl::StrAppend(&caption, " Dotted: ", absl::StrJoin(level, ", "),
                    ", which takes no notice of the setting.");
  return caption;
}

// Letters, digits and underscores.
std::string AsName(std::string text) {
  for (char& c : text) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return text;
}

Figure SensitivityFigure(const ComparisonResult& comparison, const CurveSet& set,
                         const SeriesNames& names) {
  const ValuePlaces places(set);
  const Markers markers(comparison, set, places);
  const Drawing drawing(set, names, places);
  Figure figure;
  figure.title = absl::StrCat(
      "Step time by ",
      set.axis.has_value() ? set.axis->Title() : absl::AsciiStrToLower(SettingTitle(set.setting)));
  figure.caption = absl::StrCat(Caption(set), markers.caption());
  figure.script = PlotStyle();
  drawing.Finish(&figure);
  absl::StrAppend(&figure.script, markers.script(), drawing.Plots());
  return figure;
}

}  // namespace

std::vector<Figure> SensitivityFigures(const ComparisonResult& comparison) {
  const std::vector<Cell> cells(comparison.cells().begin(), comparison.cells().end());
  const SeriesNames names(cells);
  const bool varies_workers = std::find(comparison.varied().begin(), comparison.varied().end(),
                                        "workers") != comparison.varied().end();
  std::map<std::string, int> drawn;  // by file name
  std::vector<Figure> figures;
  for (const CurveSet& set : CurveSets(cells)) {
    if (set.setting == "workers" && !varies_workers) continue;
    const std::string file = absl::StrCat(
        "sensitivity_", AsName(set.axis.has_value() ? set.axis->FileName() : set.setting));
    const int number = ++drawn[file];
    if (number > kMostContexts) continue;
    Figure figure = SensitivityFigure(comparison, set, names);
    figure.name = number == 1 ? file : absl::StrCat(file, "_", number);
    figures.push_back(std::move(figure));
  }
  for (Figure& figure : figures) {
    for (const auto& [file, count] : drawn) {
      if (figure.name == file && count > kMostContexts)
        absl::StrAppend(&figure.caption, " ", count - kMostContexts,
                        " more such figures would fit; results.csv has their numbers.");
    }
  }
  return figures;
}

}  // namespace ringside
