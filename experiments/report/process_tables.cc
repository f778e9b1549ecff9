#include "experiments/report/process_tables.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "experiments/report/cell_rows.h"
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
    messages_sent_ += counted.messages_sent();
    messages_ += counted.messages_sent() + counted.messages_received();
    headers_ += counted.header_bytes_sent() + counted.header_bytes_received();
    formula_ += formula.payload_bytes_sent() + formula.payload_bytes_received();
    formula_messages_ += formula.messages_sent() + formula.messages_received();
    largest_ = std::max(largest_, counted.payload_bytes_sent() + counted.payload_bytes_received());
    cpu_s_ += process.cpu_seconds();
    peak_rss_bytes_ = std::max(peak_rss_bytes_, process.peak_rss_bytes());
  }

  int64_t processes() const { return processes_; }

  std::vector<Field> WireFields() const {
    const int64_t counted = sent_ + received_;
    return {{Bytes(PerStep(sent_))},
            {Bytes(PerStep(received_))},
            CountedOverFormula(counted, formula_),
            {RoundedNumber(PerStep(messages_sent_))},
            CountedOverFormula(messages_, formula_messages_),
            counted > 0 ? Field{absl::StrCat(RoundedNumber(100 * Ratio(headers_, counted)), " %")}
                        : NoValue(),
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

  static Field CountedOverFormula(int64_t counted, int64_t formula) {
    if (counted == formula) return {counted == 0 ? "none due" : "1 exactly", Field::Kind::kPass};
    if (formula == 0) return {"none due, some sent", Field::Kind::kFail};
    return {absl::StrCat("×", ExactNumber(Ratio(counted, formula))), Field::Kind::kFail};
  }

  int64_t processes_ = 0;
  int64_t process_steps_ = 0;
  int64_t sent_ = 0;
  int64_t received_ = 0;
  int64_t messages_sent_ = 0;
  int64_t messages_ = 0;  // both ways
  int64_t headers_ = 0;
  int64_t formula_ = 0;
  int64_t formula_messages_ = 0;
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

// Columns and rows that start with those of the cells and the role, and go on with what `fields_of`
// makes of the cell and the total.
template <typename FieldsOf>
Table RoleTable(const ComparisonResult& comparison, const std::vector<Column>& columns,
                FieldsOf fields_of) {
  const CellRows rows(comparison);
  Table table;
  table.columns = rows.Columns();
  table.columns.push_back({"Processes"});
  table.columns.insert(table.columns.end(), columns.begin(), columns.end());
  for (const Cell& cell : rows.cells()) {
    const auto add = [&](const RoleTotal& total, absl::string_view role) {
      if (total.processes() == 0) return;
      std::vector<Field> row = rows.Fields(cell);
      row.push_back({Counted(total.processes() / std::max(cell.trials(), 1), role)});
      for (Field& field : fields_of(cell, total)) row.push_back(std::move(field));
      table.rows.push_back(std::move(row));
    };
    const std::vector<const RunResult*> members = rows.RunsOf(cell);
    add(Workers(members), IsOneProcess(cell.strategy()) ? "process" : "worker");
    add(Shards(members), "shard");
  }
  return table;
}

}  // namespace

Table WireTable(const ComparisonResult& comparison) {
  return RoleTable(comparison,
                   {{"Transport"},
                    {"Sent / step", true},
                    {"Received / step", true},
                    {"Bytes ÷ formula"},
                    {"Messages / step", true},
                    {"Messages ÷ formula"},
                    {"Headers", true},
                    {"Imbalance", true}},
                   [](const Cell& cell, const RoleTotal& total) {
                     std::vector<Field> fields = total.WireFields();
                     fields.insert(fields.begin(),
                                   cell.transport().empty() ? NoValue() : Field{cell.transport()});
                     return fields;
                   });
}

Table ProcessTable(const ComparisonResult& comparison) {
  return RoleTable(comparison,
                   {{"CPU time", true}, {"CPU time / step", true}, {"Peak memory", true}},
                   [](const Cell&, const RoleTotal& total) { return total.ProcessFields(); });
}

}  // namespace ringside
