#include "experiments/report/figures.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "experiments/report/breakdown_figure.h"
#include "experiments/report/csv_table.h"
#include "experiments/report/forecast_tables.h"
#include "experiments/report/learning_figures.h"
#include "experiments/report/number_text.h"
#include "experiments/report/plot_script.h"
#include "experiments/report/point.h"
#include "experiments/report/sensitivity_figure.h"
#include "experiments/report/series.h"
#include "experiments/report/skew_figure.h"
#include "experiments/report/svg_theme.h"
#include "experiments/report/training_time.h"

namespace ringside {
namespace {

std::vector<Cell> CellsOf(const ComparisonResult& comparison) {
  return {comparison.cells().begin(), comparison.cells().end()};
}

// Of a sweep, the figures over workers show one point: that with most numbers of workers, the last
// of several.
Point ShownPoint(const std::vector<Cell>& cells) {
  std::map<Point, int> worker_counts;
  Point shown;
  for (const Place& place : PlacesOf(cells)) ++worker_counts[place.point];
  for (const Place& place : PlacesOf(cells)) {
    if (worker_counts[place.point] >= worker_counts[shown]) shown = place.point;
  }
  return shown;
}

std::vector<Cell> CellsAt(const Point& point, const std::vector<Cell>& cells) {
  std::vector<Cell> there;
  for (const Cell& cell : cells) {
    if (IsPartOf(PointOf(cell), point)) there.push_back(cell);
  }
  return there;
}

// What a caption says of it; empty where nothing varies.
std::string ShownText(const Point& point) {
  return point.empty() ? ""
                       : absl::StrCat(" At ", PointText(point), "; results.csv has the others.");
}

// Places of the numbers of workers along the x axis: evenly, whatever their distance.
class WorkersPlaces {
 public:
  explicit WorkersPlaces(const std::vector<Cell>& cells) {
    std::set<int> distinct;
    for (const Cell& cell : cells) distinct.insert(cell.workers());
    workers_.assign(distinct.begin(), distinct.end());
  }

  int Place(int workers) const {
    return static_cast<int>(std::find(workers_.begin(), workers_.end(), workers) -
                            workers_.begin());
  }
  std::string Script() const {
    std::vector<std::string> tics;
    for (size_t i = 0; i < workers_.size(); ++i) {
      tics.push_back(absl::StrCat(PlotQuoted(absl::StrCat(workers_[i])), " ", i));
    }
    return absl::StrCat("set xtics (", absl::StrJoin(tics, ", "), ")\n",
                        "set xrange [-0.5:", static_cast<double>(workers_.size()) - 0.5, "]\n",
                        PlotAxisLabel("x", "workers"));
  }

 private:
  std::vector<int> workers_;
};

std::vector<LegendEntry> LegendOf(const SeriesNames& names, bool with_oracles) {
  std::vector<LegendEntry> entries;
  for (const std::string& series : names.all()) {
    if (!IsOracle(series)) entries.push_back({series, names.Colour(series)});
    if (IsOracle(series) && with_oracles) {
      entries.push_back({absl::StrCat(series, " (one process)"), names.Colour(series)});
    }
  }
  return entries;
}

// What the cells' efficiencies are over, each once.
std::string BaselinesText(const std::vector<Cell>& cells) {
  std::vector<std::string> baselines;
  for (const Cell& cell : cells) {
    if (cell.baseline().empty()) continue;
    if (std::find(baselines.begin(), baselines.end(), cell.baseline()) == baselines.end())
      baselines.push_back(cell.baseline());
  }
  return absl::StrJoin(baselines, "; ");
}

// Beside each other, so that no series hides another.
double Dodge(size_t index, size_t count) {
  return 0.06 * (static_cast<double>(index) - (static_cast<double>(count) - 1) / 2);
}

bool HasNumbers(const Figure& figure, int rows) {
  return std::count(figure.csv.begin(), figure.csv.end(), '\n') > rows;
}

}  // namespace

Figure ThroughputFigure(const ComparisonResult& comparison) {
  const std::vector<Cell> all = CellsOf(comparison);
  const SeriesNames names(all);
  const Point shown = ShownPoint(all);
  const std::vector<Cell> cells = CellsAt(shown, all);
  const WorkersPlaces axis(cells);
  CsvTable csv(
      {"series", "workers", "samples_per_s_low", "samples_per_s_median", "samples_per_s_high"});
  Figure figure;
  std::vector<std::string> plots;
  double most = 0;
  int block = 0;
  for (size_t i = 0; i < names.all().size(); ++i) {
    const std::string& series = names.all()[i];
    bool any = false;
    for (const Cell& cell : cells) {
      if (names.Of(cell) != series || cell.counted_steps() == 0) continue;
      any = true;
      const Interval& rate = cell.samples_per_s();
      most = std::max(most, rate.high());
      csv.AddRow({series, absl::StrCat(cell.workers()), ExactNumber(rate.low()),
                  ExactNumber(rate.median()), ExactNumber(rate.high())});
      absl::StrAppend(&figure.data, axis.Place(cell.workers()) + Dodge(i, names.all().size()), " ",
                      ExactNumber(rate.median()), " ", ExactNumber(rate.low()), " ",
                      ExactNumber(rate.high()), "\n");
    }
    if (!any) continue;
    absl::StrAppend(&figure.data, "\n\n");
    plots.push_back(absl::StrFormat("'data' index %d using 1:2 with lines lw 2 dt %d lc rgb '%s'",
                                    block, IsOracle(series) ? 3 : 1, names.Colour(series)));
    plots.push_back(absl::StrFormat(
        "'data' index %d using 1:2:3:4 with yerrorbars pt 7 ps 0.6 lw 1.8 lc rgb '%s'", block,
        names.Colour(series)));
    ++block;
  }
  figure.name = "throughput";
  figure.title = "Samples per second";
  figure.caption = absl::StrCat(
      "Median over the counted steps of all trials, with its 95 % interval. Higher is better.",
      ShownText(shown));
  figure.csv = csv.Text();
  figure.script = absl::StrCat(PlotStyle(), PlotLegend(LegendOf(names, true), figure),
                               axis.Script(), PlotRoundAxis(most), "set lmargin 8\nset format y '",
                               most >= 10 ? "%.0f" : "%g", "'\n", PlotCommand(plots));
  return figure;
}

Figure EfficiencyFigure(const ComparisonResult& comparison) {
  const std::vector<Cell> all = CellsOf(comparison);
  const SeriesNames names(all);
  const Point shown = ShownPoint(all);
  const std::vector<Cell> cells = CellsAt(shown, all);
  const WorkersPlaces axis(cells);
  CsvTable csv({"series", "workers", "baseline_workers", "speed_up", "efficiency"});
  Figure figure;
  std::vector<std::string> plots = {
      absl::StrCat("100 with lines dt 2 lw 1 lc rgb '", kInkSentinel, "'")};
  double most = 1;
  int block = 0;
  for (size_t i = 0; i < names.all().size(); ++i) {
    const std::string& series = names.all()[i];
    bool any = false;
    for (const Cell& cell : cells) {
      if (names.Of(cell) != series || cell.baseline_workers() == 0) continue;
      any = true;
      most = std::max(most, cell.efficiency());
      csv.AddRow({series, absl::StrCat(cell.workers()), absl::StrCat(cell.baseline_workers()),
                  ExactNumber(cell.speed_up()), ExactNumber(cell.efficiency())});
      absl::StrAppend(&figure.data, axis.Place(cell.workers()) + Dodge(i, names.all().size()), " ",
                      ExactNumber(cell.efficiency() * 100), "\n");
    }
    if (!any) continue;
    absl::StrAppend(&figure.data, "\n\n");
    plots.push_back(absl::StrFormat("'data' index %d with linespoints pt 7 ps 0.6 lw 2 lc rgb '%s'",
                                    block++, names.Colour(series)));
  }
  figure.name = "efficiency";
  figure.title = "Scaling efficiency";
  figure.caption = absl::StrCat(
      "Samples/s over those of the baseline (", BaselinesText(cells),
      "), divided by the ratio of workers; 100 % would be perfect scaling.", ShownText(shown));
  figure.csv = csv.Text();
  figure.script = absl::StrCat(PlotStyle(), PlotLegend(LegendOf(names, false), figure),
                               axis.Script(), PlotRoundAxis(most * 100),
                               "set lmargin 8\nset format y '%.0f %%'\n", PlotCommand(plots));
  return figure;
}

std::vector<Figure> Figures(const ComparisonResult& comparison) {
  int counted_cells = 0;
  std::set<int> worker_counts;
  for (const Cell& cell : comparison.cells()) {
    if (cell.counted_steps() > 0) ++counted_cells;
    if (cell.baseline_workers() > 0) worker_counts.insert(cell.workers());
  }
  std::vector<Figure> figures;
  if (counted_cells > 1) figures.push_back(ThroughputFigure(comparison));
  if (worker_counts.size() > 1) figures.push_back(EfficiencyFigure(comparison));
  const Figure training_time = TrainingTimeFigure(comparison);
  if (HasNumbers(training_time, 2)) figures.push_back(training_time);  // a single bar says nothing
  if (counted_cells > 0) figures.push_back(BreakdownFigure(comparison));
  for (Figure& figure : SensitivityFigures(comparison)) figures.push_back(std::move(figure));
  for (const Figure& figure :
       {SkewFigure(comparison), LossFigure(comparison), LossOverTimeFigure(comparison),
        StalenessFigure(comparison), ForecastFigure(comparison)}) {
    if (HasNumbers(figure, 1)) figures.push_back(figure);
  }
  return figures;
}

}  // namespace ringside
