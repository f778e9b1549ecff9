#include "experiments/report/learning_figures.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "experiments/report/cell_rows.h"
#include "experiments/report/csv_table.h"
#include "experiments/report/learning.h"
#include "experiments/report/number_text.h"
#include "experiments/report/plot_script.h"
#include "experiments/report/setting_text.h"
#include "experiments/report/statistics.h"
#include "experiments/report/svg_theme.h"

namespace ringside {
namespace {

// Points of a drawn curve: longer ones are averaged over equal numbers of steps. The CSV keeps
// every step.
constexpr int64_t kMostPoints = 150;
constexpr double kThinnest = 1.2;
constexpr double kThicker = 2.6;  // each further one, so that equal curves all stay visible
constexpr double kThickest = 9;

int64_t Stride(size_t points) {
  return std::max<int64_t>(1, (static_cast<int64_t>(points) + kMostPoints - 1) / kMostPoints);
}

// Means of `stride` steps each, the last perhaps of fewer, at the last step of each.
std::vector<LossPoint> Averaged(const std::vector<LossPoint>& curve, int64_t stride) {
  std::vector<LossPoint> averaged;
  double sum = 0;
  int64_t count = 0;
  for (const LossPoint& point : curve) {
    sum += point.loss;
    ++count;
    if (count < stride && &point != &curve.back()) continue;
    averaged.push_back(point);
    averaged.back().loss = sum / static_cast<double>(count);
    sum = 0;
    count = 0;
  }
  return averaged;
}

struct LossAxis {
  const char* name;  // of the figure
  const char* title;
  const char* x_label;
  bool over_time;
};

std::string LossCaption(const std::vector<ChosenCurve>& curves, int64_t stride,
                        const LossAxis& axis) {
  if (curves.empty()) return "";
  const std::string point = PointText(curves.front().cell->point());
  std::string caption = absl::StrCat(
      "Mean loss of the global batch with ", Counted(curves.front().cell->workers(), "worker"),
      ", first trial",
      point.empty() ? "" : absl::StrCat(" (", point, ", where nothing else is said)"), ". ",
      stride > 1 ? absl::StrCat("Each point is the mean of ", stride, " steps. ") : "");
  if (axis.over_time) {
    absl::StrAppend(&caption, "The time is that of the steps alone, warm-up included.");
  } else if (curves.size() > 1) {
    absl::StrAppend(&caption,
                    "Lines lie on top of each other where strategies train alike; they are drawn "
                    "thin over thick.");
  }
  return caption;
}

Figure DrawLosses(const ComparisonResult& comparison, const LossAxis& axis) {
  const CellRows rows(comparison);
  const std::vector<RunResult> runs(comparison.runs().begin(), comparison.runs().end());
  const std::vector<ChosenCurve> curves = ChosenCurves(rows.cells(), runs, rows.names());
  CsvTable csv({"workers", "series", "point", "trial", "step", "time_s", "loss"});
  Figure figure;
  std::vector<LegendEntry> legend;
  std::vector<std::string> plots;
  double most = 0;
  double furthest = 0;
  int64_t stride = 1;
  std::map<std::string, int> shades;  // curves of a series so far
  for (size_t i = 0; i < curves.size(); ++i) {
    const ChosenCurve& curve = curves[curves.size() - 1 - i];  // the first is drawn last
    const std::vector<LossPoint> points = LossCurve(*curve.run);
    for (const LossPoint& point : points) {
      csv.AddRow({absl::StrCat(curve.cell->workers()), curve.series, PointText(curve.cell->point()),
                  absl::StrCat(curve.run->trial()), absl::StrCat(point.step),
                  ExactNumber(point.time_s), ExactNumber(point.loss)});
    }
    stride = Stride(points.size());
    for (const LossPoint& point : Averaged(points, stride)) {
      const double x = axis.over_time ? point.time_s : static_cast<double>(point.step);
      most = std::max(most, point.loss);
      furthest = std::max(furthest, x);
      absl::StrAppend(&figure.data, ExactNumber(x), " ", ExactNumber(point.loss), "\n");
    }
    absl::StrAppend(&figure.data, "\n\n");
    const double width =
        axis.over_time
            ? 1.8
            : std::min(kThickest,
                       kThinnest + kThicker * static_cast<double>(curves.size() - 1 - i));
    const std::string colour = rows.names().Colour(curve.series);
    plots.push_back(absl::StrFormat("'data' index %d with lines lw %.1f dt %d lc rgb '%s'", i,
                                    width, 1 + shades[curve.series]++ % 4, colour));
    legend.insert(legend.begin(), {curve.label, colour});
  }
  figure.name = axis.name;
  figure.title = axis.title;
  figure.caption = LossCaption(curves, stride, axis);
  figure.csv = csv.Text();
  figure.script = absl::StrCat(
      PlotStyle(), PlotLegend(legend, figure), PlotRoundAxis(most),
      "set lmargin 6.5\nset xrange [0:", furthest > 0 ? ExactNumber(furthest) : "1",
      "]\nset format y '%g'\n", PlotAxisLabel("x", axis.x_label), PlotAxisLabel("y", "loss"),
      plots.empty() ? "plot -1 notitle\n" : PlotCommand(plots));
  return figure;
}

// Units pushed, by missed updates, of all shards and runs of a cell.
std::vector<int64_t> StalenessCounts(const std::vector<const RunResult*>& runs) {
  std::vector<int64_t> counts;
  for (const RunResult* run : runs) {
    for (const ShardResult& shard : run->shard_results()) {
      const auto size = static_cast<size_t>(shard.staleness_size());
      if (counts.size() < size) counts.resize(size, 0);
      for (size_t i = 0; i < size; ++i) counts[i] += shard.staleness(static_cast<int>(i));
    }
  }
  return counts;
}

struct StalenessBars {
  std::string label;
  std::string colour;
  std::vector<double> shares;
};

// At the largest number of workers, one for each series.
std::vector<StalenessBars> BarsOf(const CellRows& rows, CsvTable* csv) {
  std::map<std::string, const Cell*> cells;
  int most_workers = 0;
  for (const Cell& cell : rows.cells()) {
    if (StalenessCounts(rows.RunsOf(cell)).empty()) continue;
    if (cell.workers() > most_workers) cells.clear();
    most_workers = std::max(most_workers, cell.workers());
    if (cell.workers() == most_workers) cells.emplace(rows.names().Of(cell), &cell);
  }
  std::vector<StalenessBars> bars;
  for (const auto& [series, cell] : cells) {
    const std::vector<int64_t> counts = StalenessCounts(rows.RunsOf(*cell));
    int64_t total = 0;
    for (const int64_t count : counts) total += count;
    if (total == 0) continue;
    StalenessBars& entry = bars.emplace_back();
    entry.label = series;
    entry.colour = rows.names().Colour(series);
    for (size_t i = 0; i < counts.size(); ++i) {
      entry.shares.push_back(static_cast<double>(counts[i]) / static_cast<double>(total));
      csv->AddRow({series, absl::StrCat(cell->workers()), PointText(cell->point()), absl::StrCat(i),
                   i + 1 == counts.size() ? "1" : "0", absl::StrCat(counts[i])});
    }
  }
  return bars;
}

}  // namespace

Figure LossFigure(const ComparisonResult& comparison) {
  return DrawLosses(comparison, {"loss", "Loss over steps", "step", false});
}

Figure LossOverTimeFigure(const ComparisonResult& comparison) {
  return DrawLosses(comparison, {"loss_time", "Loss over time", "seconds", true});
}

Figure StalenessFigure(const ComparisonResult& comparison) {
  const CellRows rows(comparison);
  CsvTable csv({"series", "workers", "point", "missed_updates", "and_more", "units"});
  const std::vector<StalenessBars> bars = BarsOf(rows, &csv);
  Figure figure;
  std::vector<LegendEntry> legend;
  std::vector<std::string> plots;
  double most = 0;
  size_t shown = 1;  // values with anything in them
  const double width = 0.8 / std::max<double>(1, static_cast<double>(bars.size()));
  for (size_t i = 0; i < bars.size(); ++i) {
    for (size_t value = 0; value < bars[i].shares.size(); ++value) {
      if (bars[i].shares[value] > 0) shown = std::max(shown, value + 1);
      most = std::max(most, bars[i].shares[value]);
      absl::StrAppend(&figure.data,
                      static_cast<double>(value) - 0.4 + width * (static_cast<double>(i) + 0.5),
                      " ", ExactNumber(100 * bars[i].shares[value]), "\n");
    }
    absl::StrAppend(&figure.data, "\n\n");
    plots.push_back(absl::StrFormat("'data' index %d using 1:2:(%g) with boxes lc rgb '%s'", i,
                                    width * 0.9, bars[i].colour));
    legend.push_back({bars[i].label, bars[i].colour});
  }
  figure.name = "staleness";
  figure.title = "Staleness of what was pushed";
  figure.caption =
      "Share of the units pushed by how many updates of others they had missed when they arrived, "
      "at the largest number of workers.";
  if (!bars.empty()) figure.csv = csv.Text();
  figure.script = absl::StrCat(
      PlotStyle(), PlotLegend(legend, figure), PlotRoundAxis(most * 100),
      "set style fill solid 1.0 noborder\nset lmargin 8\nset format y '%.0f %%'\nset xrange [-0.6:",
      static_cast<double>(shown) - 0.4, "]\nset xtics ", std::max<size_t>(1, shown / 8), "\n",
      PlotAxisLabel("x", "updates missed"),
      plots.empty() ? "plot -1 notitle\n" : PlotCommand(plots));
  return figure;
}

Table TargetTable(const ComparisonResult& comparison) {
  const CellRows rows(comparison);
  std::vector<std::pair<const Cell*, std::vector<std::vector<LossPoint>>>> cells;
  std::vector<std::vector<LossPoint>> all;
  for (const Cell& cell : rows.cells()) {
    std::vector<std::vector<LossPoint>> curves;
    for (const RunResult* run : rows.RunsOf(cell)) {
      std::vector<LossPoint> curve = LossCurve(*run);
      if (!curve.empty()) curves.push_back(std::move(curve));
    }
    if (curves.empty()) continue;
    all.insert(all.end(), curves.begin(), curves.end());
    cells.emplace_back(&cell, std::move(curves));
  }
  Table table;
  table.columns = rows.Columns();
  for (const char* title : {"Target loss", "Steps to it", "Time to it", "Loss at the end"})
    table.columns.push_back({title, true});
  const absl::optional<double> target = CommonTarget(all);
  if (!target.has_value()) return table;
  for (const auto& [cell, curves] : cells) {
    std::vector<double> steps;
    Trials times;
    std::vector<double> last;
    for (const std::vector<LossPoint>& curve : curves) {
      const absl::optional<LossPoint> reached = FirstAtOrBelow(curve, *target);
      if (!reached.has_value()) continue;
      steps.push_back(static_cast<double>(reached->step));
      times.push_back({reached->time_s});
      last.push_back(curve.back().loss);
    }
    const IntervalEstimate time = MedianInterval(times);
    std::vector<Field> row = rows.Fields(*cell);
    row.push_back({RoundedNumber(*target)});
    row.push_back({RoundedNumber(Median(steps))});
    row.push_back(
        {Seconds(time.median), Field::Kind::kText,
         times.size() > 1 ? absl::StrCat(Seconds(time.low), " to ", Seconds(time.high)) : ""});
    row.push_back({RoundedNumber(Median(last))});
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace ringside
