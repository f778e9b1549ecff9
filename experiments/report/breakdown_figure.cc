#include "experiments/report/breakdown_figure.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "experiments/report/bar_figure.h"
#include "experiments/report/csv_table.h"
#include "experiments/report/number_text.h"
#include "experiments/report/series.h"
#include "experiments/report/setting_text.h"
#include "experiments/report/step_parts.h"

namespace ringside {
namespace {

// Of the bars: cells of one number of workers at one point.
std::string Group(const Cell& cell) {
  const std::string point = PointText(cell.point());
  return absl::StrCat(Counted(cell.workers(), "worker"), point.empty() ? "" : ", ", point);
}

bool IsExposedCommunication(const StepPart& part) {
  return absl::string_view(part.column) == "exposed_comm_s";
}

Bar BarOf(const Cell& cell, const SeriesNames& names, CsvTable* csv) {
  const StepRecord& step = cell.mean_step();
  const auto add_row = [&](const StepPart& part) {
    csv->AddRow({names.Of(cell), absl::StrCat(cell.workers()), PointText(cell.point()), part.column,
                 ExactNumber(part.seconds_of(step))});
  };
  Bar bar = {Group(cell), names.Of(cell), {}};
  double end_s = 0;
  for (const StepPart& part : StepParts()) {
    const double begin_s = end_s;
    end_s += part.seconds_of(step);
    // Where the two are told apart, the one is drawn as the first share of the other.
    const double wait_s = IsExposedCommunication(part) ? step.wait_slowest_s() : 0;
    if (wait_s > 0) {
      bar.parts.push_back(
          {WaitForSlowest().colour, begin_s * 1e3, (begin_s + wait_s) * 1e3, false});
      add_row(WaitForSlowest());
    }
    bar.parts.push_back({part.colour, (begin_s + wait_s) * 1e3, end_s * 1e3, false});
    add_row(part);
  }
  const double behind_s = step.data_s() + step.forward_s() + step.backward_s();
  bar.parts.push_back({HiddenCommunication().colour,
                       std::max(0.0, behind_s - step.hidden_comm_s()) * 1e3, behind_s * 1e3, true});
  add_row(HiddenCommunication());
  return bar;
}

// "Mean over counted steps and ranks.", and what else must be said of these cells.
std::string Caption(const std::vector<Cell>& cells, const SeriesNames& names) {
  std::string caption = "Mean over counted steps and ranks. Shorter is better.";
  const bool any_hidden = std::any_of(cells.begin(), cells.end(), [](const Cell& cell) {
    return cell.mean_step().hidden_comm_s() > 0;
  });
  if (any_hidden) {
    absl::StrAppend(&caption,
                    " Hidden communication goes on behind the backward pass and adds nothing.");
  }
  for (const std::string& series : names.all()) {
    if (IsOracle(series))
      absl::StrAppend(&caption, " ", series, " does the work of all ranks in one process.");
  }
  return caption;
}

}  // namespace

Figure BreakdownFigure(const ComparisonResult& comparison) {
  const std::vector<Cell> cells(comparison.cells().begin(), comparison.cells().end());
  const SeriesNames names(cells);
  CsvTable csv({"series", "workers", "point", "part", "seconds"});
  std::vector<Bar> bars;
  for (const Cell& cell : cells) {
    if (cell.counted_steps() > 0) bars.push_back(BarOf(cell, names, &csv));
  }
  std::vector<LegendEntry> legend;
  for (const StepPart& part : StepParts()) {
    if (IsExposedCommunication(part) && AnyWaitForSlowest(comparison))
      legend.push_back({WaitForSlowest().label, WaitForSlowest().colour});
    legend.push_back({part.label, part.colour});
  }
  legend.push_back({HiddenCommunication().label, HiddenCommunication().colour});
  Figure figure;
  figure.name = "breakdown";
  figure.title = "Mean step by part";
  figure.caption = Caption(cells, names);
  figure.csv = csv.Text();
  DrawBars(bars, legend, "milliseconds", &figure);
  return figure;
}

}  // namespace ringside
