#include "experiments/report/scaling_table.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "experiments/report/cell_rows.h"
#include "experiments/report/number_text.h"
#include "experiments/report/resources.h"
#include "experiments/report/result_tables.h"

namespace ringside {
namespace {

Field RateField(const Interval& interval) {
  return {RoundedNumber(interval.median()), Field::Kind::kText,
          absl::StrCat(RoundedNumber(interval.low()), " to ", RoundedNumber(interval.high()))};
}

Field TimeField(const Interval& interval) {
  return {Seconds(interval.median()), Field::Kind::kText,
          absl::StrCat(Seconds(interval.low()), " to ", Seconds(interval.high()))};
}

// "1,234" with the note "2 hosts"; no value where the number is not known.
Field ShareField(double rate, int count, const char* noun) {
  if (count == 0) return NoValue();
  return {RoundedNumber(rate / count), Field::Kind::kText, Counted(count, noun)};
}

// What the speed-up is over, short.
std::string Baseline(const Cell& cell) {
  if (!cell.baseline().empty()) return absl::StrCat("over ", cell.baseline());
  return absl::StrCat("over ", Counted(cell.baseline_workers(), "worker"));
}

void AddTimes(const Cell& cell, const Resources& resources, std::vector<Field>* row) {
  const bool timed = cell.counted_steps() > 0;
  const bool scales = cell.baseline_workers() > 0;
  const double rate = cell.samples_per_s().median();
  const auto if_timed = [&](const Field& field) { row->push_back(timed ? field : NoValue()); };
  if_timed(RateField(cell.samples_per_s()));
  if_timed(ShareField(rate, resources.hosts, "host"));
  if_timed(ShareField(rate, resources.cores, "core"));
  row->push_back(scales ? Field{absl::StrCat("×", FixedNumber(cell.speed_up(), 2)),
                                Field::Kind::kText, Baseline(cell)}
                        : NoValue());
  row->push_back(scales ? Field{Percent(cell.efficiency(), 0)} : NoValue());
  if_timed(TimeField(cell.step_s()));
  if_timed({Seconds(cell.p90_step_s())});
  if_timed({Seconds(cell.p99_step_s())});
  Field spread = timed ? SpreadField(cell) : NoValue();
  spread.note =
      absl::StrCat(Counted(cell.trials(), "trial"), spread.note.empty() ? "" : ", ", spread.note);
  row->push_back(std::move(spread));
  row->push_back(CoresField(cell));
}

}  // namespace

Table ScalingTable(const ComparisonResult& comparison) {
  const CellRows rows(comparison, {"ps_shards", "placement"});
  bool any_shards = false;
  bool any_placement = false;
  for (const Cell& cell : rows.cells()) {
    any_shards = any_shards || cell.shards() > 0;
    any_placement = any_placement || !cell.placement().empty();
  }
  Table table;
  table.columns = rows.Columns();
  if (any_shards) table.columns.push_back({"Shards", true});
  if (any_placement) table.columns.push_back({"Placement"});
  for (const char* title : {"Batch per rank", "Global batch", "Samples/s", "per host", "per core",
                            "Speed-up", "Efficiency", "Step, p50", "p90", "p99", "CV"})
    table.columns.push_back({title, true});
  table.columns.push_back({"Threads / cores"});
  for (const Cell& cell : rows.cells()) {
    std::vector<Field> row = rows.Fields(cell);
    if (any_shards)
      row.push_back(cell.shards() > 0 ? Field{absl::StrCat(cell.shards())} : NoValue());
    if (any_placement)
      row.push_back(cell.placement().empty() ? NoValue() : Field{cell.placement()});
    row.push_back({WholeNumber(cell.batch_size())});
    row.push_back({WholeNumber(cell.global_batch_size())});
    const std::vector<const RunResult*> runs = rows.RunsOf(cell);
    AddTimes(cell, runs.empty() ? Resources() : ResourcesOf(*runs.front()), &row);
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace ringside
