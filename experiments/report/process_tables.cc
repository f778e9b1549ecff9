#include "experiments/report/process_tables.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "experiments/report/cells.h"
#include "experiments/report/number_text.h"
#include "experiments/report/series.h"

namespace ringside {
namespace {

// What the processes of one role did in all runs of a cell.
class RoleTotal {
 public:
  void Add(const Traffic& counted, const Traffic& formula, const ProcessInfo& process,
           int64_t steps) {
    ++processes_;
    process_steps_ += steps;
    sent_ += counted.payload_bytes_sent();
    received_ += counted.payload_bytes_received();
    messages_ += counted.messages_sent();
    headers_ += counted.header_bytes_sent() + counted.header_bytes_received();
    formula_ += formula.payload_bytes_sent() + formula.payload_bytes_received();
    largest_ = std::max(largest_, counted.payload_bytes_sent() + counted.payload_bytes_received());
    cpu_s_ += process.cpu_seconds();
    peak_rss_bytes_ = std::max(peak_rss_bytes_, process.peak_rss_bytes());
  }

  int64_t processes() const { return processes_; }

  std::vector<Field> WireFields() const {
    const int64_t counted = sent_ + received_;
    return {{Bytes(PerStep(sent_))},
            {Bytes(PerStep(received_))},
            {RoundedNumber(PerStep(messages_))},
            counted > 0 ? Field{absl::StrCat(RoundedNumber(100 * Ratio(headers_, counted)), " %")}
                        : NoValue(),
            CountedOverFormula(counted),
            counted > 0 ? Field{FixedNumber(Ratio(largest_ * processes_, counted), 2)} : NoValue()};
  }

  std::vector<Field> ProcessFields() const {
    return {{Seconds(cpu_s_ / static_cast<double>(processes_))},
            {Seconds(process_steps_ > 0 ? cpu_s_ / static_cast<double>(process_steps_) : 0)},
            {Bytes(static_cast<double>(peak_rss_bytes_))}};
  }

 private:
  static double Ratio(int64_t a, int64_t b) {
    return static_cast<double>(a) / static_cast<double>(b);
  }
  double PerStep(int64_t total) const {
    return process_steps_ > 0 ? Ratio(total, process_steps_) : 0;
  }

  Field CountedOverFormula(int64_t counted) const {
    if (counted == formula_) return {counted == 0 ? "none due" : "1 exactly", Field::Kind::kPass};
    if (formula_ == 0) return {"none due, some sent", Field::Kind::kFail};
    return {absl::StrCat("×", ExactNumber(Ratio(counted, formula_))), Field::Kind::kFail};
  }

  int64_t processes_ = 0;
  int64_t process_steps_ = 0;
  int64_t sent_ = 0;
  int64_t received_ = 0;
  int64_t messages_ = 0;
  int64_t headers_ = 0;
  int64_t formula_ = 0;
  int64_t largest_ = 0;
  double cpu_s_ = 0;
  int64_t peak_rss_bytes_ = 0;
};

RoleTotal Workers(const std::vector<const RunResult*>& runs) {
  RoleTotal total;
  for (const RunResult* run : runs) {
    for (const WorkerResult& worker : run->worker_results()) {
      total.Add(worker.traffic(), worker.expected_traffic(), worker.process(), worker.steps_size());
    }
  }
  return total;
}

RoleTotal Shards(const std::vector<const RunResult*>& runs) {
  RoleTotal total;
  for (const RunResult* run : runs) {
    for (const ShardResult& shard : run->shard_results()) {
      total.Add(shard.traffic(), shard.expected_traffic(), shard.process(), shard.steps());
    }
  }
  return total;
}

// Rows that start with number of workers, series and role, and go on with what `fields_of` makes of
// the cell and the total.
template <typename FieldsOf>
void AddRows(const ComparisonResult& comparison, FieldsOf fields_of, Table& table) {
  const std::vector<Cell> cells(comparison.cells().begin(), comparison.cells().end());
  const std::vector<RunResult> runs(comparison.runs().begin(), comparison.runs().end());
  const SeriesNames names(cells);
  for (const Cell& cell : cells) {
    const auto add = [&](const RoleTotal& total, absl::string_view role) {
      if (total.processes() == 0) return;
      const std::string series = names.Of(cell);
      const int64_t per_run = total.processes() / std::max(cell.trials(), 1);
      std::vector<Field> row = {{absl::StrCat(cell.workers())},
                                {series, Field::Kind::kSeries, "", names.Colour(series)},
                                {Counted(per_run, role)}};
      for (Field& field : fields_of(cell, total)) row.push_back(std::move(field));
      table.rows.push_back(std::move(row));
    };
    const std::vector<const RunResult*> members = RunsOf(cell, runs);
    add(Workers(members), IsOneProcess(cell.strategy()) ? "process" : "worker");
    add(Shards(members), "shard");
  }
}

}  // namespace

Table WireTable(const ComparisonResult& comparison) {
  Table table;
  table.columns = {{"Workers", true},
                   {"Strategy"},
                   {"Processes"},
                   {"Transport"},
                   {"Sent / step", true},
                   {"Received / step", true},
                   {"Messages / step", true},
                   {"Headers", true},
                   {"Counted ÷ formula"},
                   {"Imbalance", true}};
  const auto fields_of = [](const Cell& cell, const RoleTotal& total) {
    std::vector<Field> fields = total.WireFields();
    fields.insert(fields.begin(), cell.transport().empty() ? NoValue() : Field{cell.transport()});
    return fields;
  };
  AddRows(comparison, fields_of, table);
  return table;
}

Table ProcessTable(const ComparisonResult& comparison) {
  Table table;
  table.columns = {
      {"Workers", true},         {"Strategy"},         {"Processes"}, {"CPU time", true},
      {"CPU time / step", true}, {"Peak memory", true}};
  AddRows(
      comparison, [](const Cell&, const RoleTotal& total) { return total.ProcessFields(); }, table);
  return table;
}

}  // namespace ringside
