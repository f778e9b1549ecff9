#include "experiments/report/breakdown_figure.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "experiments/report/csv_table.h"
#include "experiments/report/number_text.h"
#include "experiments/report/plot_script.h"
#include "experiments/report/series.h"
#include "experiments/report/step_parts.h"
#include "experiments/report/svg_theme.h"

namespace ringside {
namespace {

struct Row {
  const Cell* cell;
  std::string series;
  double place;  // from the top, with a gap before each new number of workers
  bool new_group;
};

std::vector<Row> RowsOf(const std::vector<Cell>& cells, const SeriesNames& names) {
  std::vector<Row> rows;
  for (const Cell& cell : cells) {
    if (cell.counted_steps() == 0) continue;
    const bool first = rows.empty();
    const bool new_group = first || rows.back().cell->workers() != cell.workers();
    const double below = first ? 0 : rows.back().place + (new_group ? 1.5 : 1);
    rows.push_back({&cell, names.Of(cell), below, new_group});
  }
  return rows;
}

std::string Labels(const std::vector<Row>& rows) {
  std::vector<std::string> labels;
  for (const Row& row : rows) {
    const std::string group =
        row.new_group ? absl::StrCat(Counted(row.cell->workers(), "worker"), " · ") : "";
    labels.push_back(absl::StrCat(PlotQuoted(absl::StrCat(group, row.series)), " ", row.place));
  }
  return absl::StrJoin(labels, ", ");
}

// The boxes of one colour: what they add to the data, the plot and the CSV of a figure.
class Boxes {
 public:
  Boxes(Figure* figure, CsvTable* csv) : figure_(figure), csv_(csv) {}

  void Add(const Row& row, const StepPart& part, double begin_s, double end_s) {
    csv_->AddRow({row.series, absl::StrCat(row.cell->workers()), part.column,
                  ExactNumber(part.seconds_of(row.cell->mean_step()))});
    absl::StrAppend(&figure_->data, row.place, " ", ExactNumber(begin_s * 1e3), " ",
                    ExactNumber(end_s * 1e3), "\n");
  }
  // Ends the boxes of a part. They reach from `above` to `below` their place.
  void Close(const StepPart& part, double above, double below) {
    absl::StrAppend(&figure_->data, "\n\n");
    plots_.push_back(
        absl::StrFormat("'data' index %d using 2:1:2:3:($1-%g):($1+%g) with boxxyerror lc rgb '%s'",
                        plots_.size(), above, below, part.colour));
    legend_.push_back({part.label, part.colour});
  }

  const std::vector<std::string>& plots() const { return plots_; }
  const std::vector<LegendEntry>& legend() const { return legend_; }

 private:
  Figure* const figure_;
  CsvTable* const csv_;
  std::vector<std::string> plots_;
  std::vector<LegendEntry> legend_;
};

// "Mean over counted steps and ranks.", and what else must be said of these cells.
std::string Caption(const std::vector<Row>& rows, const SeriesNames& names) {
  std::string caption = "Mean over counted steps and ranks.";
  const bool any_hidden = std::any_of(rows.begin(), rows.end(), [](const Row& row) {
    return row.cell->mean_step().hidden_comm_s() > 0;
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
  const std::vector<Row> rows = RowsOf(cells, names);
  CsvTable csv({"series", "workers", "part", "seconds"});
  Figure figure;
  Boxes boxes(&figure, &csv);
  std::vector<double> ends_s(rows.size(), 0);  // where the next part starts
  for (const StepPart& part : StepParts()) {
    for (size_t i = 0; i < rows.size(); ++i) {
      const double begin_s = ends_s[i];
      ends_s[i] += part.seconds_of(rows[i].cell->mean_step());
      boxes.Add(rows[i], part, begin_s, ends_s[i]);
    }
    boxes.Close(part, 0.38, 0.38);
  }
  for (const Row& row : rows) {
    const StepRecord& step = row.cell->mean_step();
    const double end_s = step.data_s() + step.forward_s() + step.backward_s();
    boxes.Add(row, HiddenCommunication(), std::max(0.0, end_s - step.hidden_comm_s()), end_s);
  }
  boxes.Close(HiddenCommunication(), -0.2, 0.38);
  const double bottom = rows.empty() ? 0 : rows.back().place + 1;
  figure.name = "breakdown";
  figure.title = "Mean step by part";
  figure.caption = Caption(rows, names);
  figure.csv = csv.Text();
  figure.height = 124 + static_cast<int>(23 * bottom);
  figure.script = absl::StrCat(PlotStyle(), PlotLegend(boxes.legend(), figure),
                               "unset grid\nset grid xtics lc rgb '", kInkSentinel,
                               "' lt 1 lw 1\nset border 0\nset style fill solid 1.0 noborder\n",
                               "set tics scale 0\nset xrange [0:*]\nset yrange [", bottom - 0.4,
                               ":-0.6]\nset lmargin 15\nset ytics (", Labels(rows), ")\n",
                               PlotAxisLabel("x", "milliseconds"), PlotCommand(boxes.plots()));
  return figure;
}

}  // namespace ringside
