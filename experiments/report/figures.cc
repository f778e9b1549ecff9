#include "experiments/report/figures.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "experiments/report/breakdown_figure.h"
#include "experiments/report/cells.h"
#include "experiments/report/csv_table.h"
#include "experiments/report/number_text.h"
#include "experiments/report/plot_script.h"
#include "experiments/report/point.h"
#include "experiments/report/run_samples.h"
#include "experiments/report/sensitivity_figure.h"
#include "experiments/report/series.h"
#include "experiments/report/svg_theme.h"

namespace ringside {
namespace {

// Points of a drawn curve: longer ones are averaged over equal numbers of steps. The CSV keeps
// every step.
constexpr int64_t kMostPoints = 150;

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

// The runs whose losses are drawn: the first trial of each cell at one number of workers.
std::vector<const Cell*> LossCells(const std::vector<Cell>& cells) {
  std::map<int, std::vector<const Cell*>> by_workers;
  for (const Cell& cell : cells) by_workers[cell.workers()].push_back(&cell);
  std::vector<const Cell*> chosen;
  for (const auto& entry : by_workers) {
    if (entry.second.size() >= chosen.size()) chosen = entry.second;
  }
  return chosen;
}

// Means of `stride` steps each, the last perhaps of fewer, at the last step of each.
std::vector<StepSample> Averaged(const std::vector<StepSample>& samples, int64_t stride) {
  std::vector<StepSample> averaged;
  StepSample sum;
  int64_t count = 0;
  for (const StepSample& sample : samples) {
    sum.step = sample.step;
    sum.loss += sample.loss;
    ++count;
    if (count < stride && &sample != &samples.back()) continue;
    sum.loss /= static_cast<double>(count);
    averaged.push_back(sum);
    sum = {};
    count = 0;
  }
  return averaged;
}

}  // namespace

Figure LossFigure(const ComparisonResult& comparison) {
  const std::vector<Cell> cells = CellsOf(comparison);
  const std::vector<RunResult> runs(comparison.runs().begin(), comparison.runs().end());
  const SeriesNames names(cells);
  // The first is drawn last: thin over thick, so that equal curves all stay visible.
  std::vector<const Cell*> chosen = LossCells(cells);
  std::reverse(chosen.begin(), chosen.end());
  CsvTable csv({"workers", "series", "trial", "step", "loss"});
  Figure figure;
  std::vector<std::string> plots;
  int64_t points = 0;
  int64_t stride = 1;
  double most = 0;
  std::vector<LegendEntry> legend;
  for (size_t i = 0; i < chosen.size(); ++i) {
    const Cell& cell = *chosen[i];
    const RunResult& run = *RunsOf(cell, runs).front();
    const std::vector<StepSample> samples = StepSamples(run);
    const auto count = static_cast<int64_t>(samples.size());
    for (const StepSample& sample : samples) {
      csv.AddRow({absl::StrCat(cell.workers()), names.Of(cell), absl::StrCat(run.trial()),
                  absl::StrCat(sample.step), ExactNumber(sample.loss)});
    }
    stride = std::max<int64_t>(1, (count + kMostPoints - 1) / kMostPoints);
    for (const StepSample& point : Averaged(samples, stride)) {
      most = std::max(most, point.loss);
      absl::StrAppend(&figure.data, point.step, " ", ExactNumber(point.loss), "\n");
    }
    absl::StrAppend(&figure.data, count == 0 ? "0 nan\n" : "", "\n\n");
    points = std::max(points, count);
    const double width = 1.2 + 2.6 * static_cast<double>(chosen.size() - 1 - i);
    plots.push_back(absl::StrFormat("'data' index %d with lines lw %.1f lc rgb '%s'", i, width,
                                    names.Colour(names.Of(cell))));
    legend.insert(legend.begin(), {names.Of(cell), names.Colour(names.Of(cell))});
  }
  const int workers = chosen.empty() ? 0 : chosen.front()->workers();
  figure.name = "loss";
  figure.title = "Loss over steps";
  figure.caption = absl::StrCat(
      "Mean loss of the global batch with ", Counted(workers, "worker"), ", first trial. ",
      stride > 1 ? absl::StrCat("Each point is the mean of ", stride, " steps. ") : "",
      chosen.size() > 1 ? "Lines lie on top of each other where strategies train alike; they are "
                          "drawn thin over thick."
                        : "");
  figure.csv = csv.Text();
  figure.script = absl::StrCat(PlotStyle(), PlotLegend(legend, figure), PlotRoundAxis(most),
                               "set lmargin 6.5\nset xrange [0:", std::max<int64_t>(points, 1),
                               "]\nset format y '%g'\n", PlotAxisLabel("x", "step"),
                               PlotAxisLabel("y", "loss"), PlotCommand(plots));
  return figure;
}

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
  bool any_steps = false;
  for (const RunResult& run : comparison.runs()) any_steps = any_steps || !StepSamples(run).empty();
  int counted_cells = 0;
  std::set<int> worker_counts;
  for (const Cell& cell : comparison.cells()) {
    if (cell.counted_steps() > 0) ++counted_cells;
    if (cell.baseline_workers() > 0) worker_counts.insert(cell.workers());
  }
  std::vector<Figure> figures;
  if (any_steps) figures.push_back(LossFigure(comparison));
  if (counted_cells > 1) figures.push_back(ThroughputFigure(comparison));
  if (worker_counts.size() > 1) figures.push_back(EfficiencyFigure(comparison));
  if (counted_cells > 0) figures.push_back(BreakdownFigure(comparison));
  for (Figure& figure : SensitivityFigures(comparison)) figures.push_back(std::move(figure));
  return figures;
}

}  // namespace ringside
