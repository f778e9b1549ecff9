#include "experiments/report/result_tables.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "experiments/report/bit_equality.h"
#include "experiments/report/cell_rows.h"
#include "experiments/report/core_load.h"
#include "experiments/report/number_text.h"
#include "experiments/report/point.h"
#include "experiments/report/run_samples.h"
#include "experiments/report/series.h"
#include "experiments/report/setting_text.h"
#include "experiments/report/step_parts.h"
#include "experiments/report/warnings.h"

namespace ringside {
namespace {

// Hidden communication, with its share of all communication.
Field HiddenField(const StepRecord& step) {
  const double communication = step.hidden_comm_s() + step.exposed_comm_s();
  if (communication <= 0) return NoValue();
  return {Seconds(step.hidden_comm_s()), Field::Kind::kText,
          absl::StrCat(Percent(step.hidden_comm_s() / communication, 0), " of communication")};
}

// Largest distance between the losses of two runs, over the steps that both have.
double LossDistance(const RunResult& a, const RunResult& b) {
  std::map<int64_t, double> losses;
  for (const StepSample& sample : StepSamples(a)) losses[sample.step] = sample.loss;
  double largest = 0;
  for (const StepSample& sample : StepSamples(b)) {
    const auto found = losses.find(sample.step);
    if (found != losses.end()) largest = std::max(largest, std::abs(found->second - sample.loss));
  }
  return largest;
}

// Runs whose final bits are compared, or would be where none of them is exempt.
struct SizeKey {
  int workers = 0;
  int64_t global_batch = 0;
  std::string bit_class;

  friend bool operator<(const SizeKey& a, const SizeKey& b) {
    return std::tie(a.workers, a.global_batch, a.bit_class) <
           std::tie(b.workers, b.global_batch, b.bit_class);
  }
};

// Settings that decide bits and differ between runs.
std::set<std::string> DifferingBitSettings(const ComparisonResult& comparison) {
  std::map<std::string, std::set<std::string>> values;
  for (const RunResult& run : comparison.runs()) {
    for (const auto& [name, value] : run.settings()) {
      if (DecidesBits(name)) values[name].insert(value);
    }
  }
  std::set<std::string> differing;
  for (const auto& [name, distinct] : values) {
    if (distinct.size() > 1) differing.insert(name);
  }
  return differing;
}

// Those settings of a run, for people.
std::string BitSettingsText(const RunResult& run, const std::set<std::string>& names) {
  Point point;
  for (const std::string& name : names) point[name] = SettingOf(run, name);
  return PointText(point);
}

// Runs of one SizeKey that ended with the same bits.
struct HashGroup {
  std::map<std::string, int, bool (*)(absl::string_view, absl::string_view)> runs_by_strategy{
      StrategyLess};
  std::string settings;      // that tell the class from others
  double loss_distance = 0;  // to the first run of the same key
  std::set<std::string> equality_keys;
  bool all_exempt = true;  // none of them must end with the bits of other strategies
};

// `hashes_by_key`: the bits with which the runs of each equality key ended.
Field BitsField(const HashGroup& group,
                const std::map<std::string, std::set<std::string>>& hashes_by_key) {
  for (const std::string& key : group.equality_keys) {
    if (hashes_by_key.at(key).size() > 1) return {"differ", Field::Kind::kFail};
  }
  if (group.all_exempt) return {"exempt"};
  return {"identical", Field::Kind::kPass};
}

std::string RunCounts(const HashGroup& group) {
  std::vector<std::string> parts;
  for (const auto& [strategy, runs] : group.runs_by_strategy) {
    parts.push_back(absl::StrCat(strategy, runs > 1 ? absl::StrCat(" ×", runs) : ""));
  }
  return absl::StrJoin(parts, ", ");
}

}  // namespace

Field CoresField(const Cell& cell) {
  const CoreLoad load = LoadOf(cell);
  if (load.cores == 0) return NoValue();
  const std::string text = absl::StrCat(load.threads, " / ", load.cores);
  if (!load.oversubscribed()) return {text};
  return {text, Field::Kind::kFail, "oversubscribed"};
}

Field SpreadField(const Cell& cell) {
  if (cell.trials() < 2) return NoValue();
  const std::string text = Percent(cell.cv(), 1);
  if (cell.cv() <= kNoisyCv) return {text};
  return {text, Field::Kind::kFail, "noisy"};
}

Table GateTable(const ComparisonResult& comparison) {
  Table table;
  table.columns = {{"Gate"}, {"Result"}, {"Detail"}};
  for (const Gate& gate : comparison.gates()) {
    table.rows.push_back(
        {{gate.name()},
         gate.passed() ? Field{"PASS", Field::Kind::kPass} : Field{"FAIL", Field::Kind::kFail},
         {gate.detail()}});
  }
  return table;
}

Table EquivalenceTable(const ComparisonResult& comparison) {
  const std::set<std::string> differing = DifferingBitSettings(comparison);
  std::map<SizeKey, const RunResult*> references;
  std::map<SizeKey, std::map<std::string, HashGroup>> groups;
  std::map<std::string, std::set<std::string>> hashes_by_key;
  for (int index = 0; index < comparison.runs_size(); ++index) {
    const RunResult& run = comparison.runs(index);
    const SizeKey size = {run.workers(), run.global_batch_size(), BitClass(run)};
    const RunResult& reference = *references.emplace(size, &run).first->second;
    const double distance = LossDistance(reference, run);
    const std::string key = BitEqualityKey(run, static_cast<size_t>(index));
    std::set<std::string> hashes;
    for (const WorkerResult& worker : run.worker_results())
      hashes.insert(worker.parameters_sha256());
    for (const std::string& hash : hashes) {
      HashGroup& group = groups[size][hash];
      ++group.runs_by_strategy[run.strategy()];
      group.settings = BitSettingsText(run, differing);
      group.loss_distance = std::max(group.loss_distance, distance);
      group.equality_keys.insert(key);
      group.all_exempt = group.all_exempt && !BitExemption(run).empty();
      hashes_by_key[key].insert(hash);
    }
  }
  Table table;
  table.columns = {{"Workers", true}, {"Global batch", true}};
  if (!differing.empty()) table.columns.push_back({"Settings"});
  for (const Column& column : std::vector<Column>{{"Bits"},
                                                  {"Runs that ended with them"},
                                                  {"SHA-256 of the parameters"},
                                                  {"Largest difference of losses", true}})
    table.columns.push_back(column);
  for (const auto& [size, hashes] : groups) {
    for (const auto& [hash, group] : hashes) {
      std::vector<Field> row = {{absl::StrCat(size.workers)}, {WholeNumber(size.global_batch)}};
      if (!differing.empty()) row.push_back({group.settings});
      row.push_back(BitsField(group, hashes_by_key));
      row.push_back({RunCounts(group)});
      row.push_back({hash.empty() ? "(none)" : hash, Field::Kind::kCode});
      row.push_back({RoundedNumber(group.loss_distance)});
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

Table BreakdownTable(const ComparisonResult& comparison) {
  const CellRows rows(comparison);
  Table table;
  table.columns = rows.Columns();
  table.columns.push_back({"Mean step", true});
  for (const StepPart& part : StepParts()) table.columns.push_back({part.label, true});
  const bool waits = AnyWaitForSlowest(comparison);
  if (waits) table.columns.push_back({"of exposed, waiting for the slowest", true});
  table.columns.push_back({HiddenCommunication().label, true});
  for (const Cell& cell : rows.cells()) {
    if (cell.counted_steps() == 0) continue;
    const StepRecord& step = cell.mean_step();
    std::vector<Field> row = rows.Fields(cell);
    row.push_back({Seconds(step.step_s())});
    for (const StepPart& part : StepParts()) {
      const double share = step.step_s() > 0 ? part.seconds_of(step) / step.step_s() : 0;
      row.push_back({Seconds(part.seconds_of(step)), Field::Kind::kText, Percent(share, 0)});
    }
    if (waits) row.push_back({Seconds(WaitForSlowest().seconds_of(step))});
    row.push_back(HiddenField(step));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table EvaluationTable(const ComparisonResult& comparison) {
  const CellRows rows(comparison);
  Table table;
  table.columns = rows.Columns();
  for (const char* title : {"Test accuracy", "Correct", "Mean test loss"})
    table.columns.push_back({title, true});
  for (const Cell& cell : rows.cells()) {
    // Bit-identical parameters answer alike; where they differ, every distinct answer is a row.
    std::set<std::tuple<int64_t, int64_t, double>> seen;
    for (const RunResult* run : rows.RunsOf(cell)) {
      const Evaluation& evaluation = run->evaluation();
      if (evaluation.samples() == 0) continue;
      if (!seen.insert({evaluation.correct(), evaluation.samples(), evaluation.mean_loss()}).second)
        continue;
      std::vector<Field> row = rows.Fields(cell);
      row.push_back({Percent(evaluation.accuracy(), 2)});
      row.push_back({absl::StrCat(WholeNumber(evaluation.correct()), " of ",
                                  WholeNumber(evaluation.samples()))});
      row.push_back({FixedNumber(evaluation.mean_loss(), 5)});
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

Table SettingsTable(const ComparisonResult& comparison) {
  std::map<std::string, std::set<std::string>> values;
  for (const RunResult& run : comparison.runs()) {
    for (const auto& [name, value] : run.settings())
      values[name].insert(value.empty() ? "(default)" : value);
  }
  Table table;
  table.columns = {{"Flag"}, {"Value"}};
  for (const auto& [name, distinct] : values) {
    table.rows.push_back({{absl::StrCat("--", name), Field::Kind::kCode},
                          {absl::StrJoin(distinct, " | "), Field::Kind::kCode}});
  }
  return table;
}

Table ProvenanceTable(const ComparisonResult& comparison) {
  const Provenance& provenance = comparison.provenance();
  std::vector<std::pair<std::string, std::string>> facts = {
      {"Started", provenance.started_at()},
      {"Build", absl::StrCat(provenance.build_commit(), provenance.build_type().empty() ? "" : ", ",
                             provenance.build_type())},
      {"Compiler", provenance.compiler()},
      {"Kernel", provenance.kernel()},
      {"CPU", provenance.cpu_model()},
      {"Cores", provenance.cores() > 0 ? absl::StrCat(provenance.cores()) : ""},
      {"Memory",
       provenance.memory_bytes() > 0 ? Bytes(static_cast<double>(provenance.memory_bytes())) : ""},
      {"Huge pages", provenance.huge_pages()},
  };
  std::map<std::string, std::string> versions(provenance.versions().begin(),
                                              provenance.versions().end());
  facts.insert(facts.end(), versions.begin(), versions.end());
  // What the processes found in force, each distinct value once.
  std::map<std::string, std::set<std::string>> in_force;
  const auto add = [&](const ProcessInfo& process) {
    if (!process.hostname().empty()) in_force["hosts"].insert(process.hostname());
    for (const auto& [name, value] : process.facts()) in_force[name].insert(value);
  };
  for (const RunResult& run : comparison.runs()) {
    for (const WorkerResult& worker : run.worker_results()) add(worker.process());
    for (const ShardResult& shard : run.shard_results()) add(shard.process());
  }
  for (const auto& [name, distinct] : in_force)
    facts.emplace_back(name, absl::StrJoin(distinct, " | "));
  Table table;
  table.columns = {{"What"}, {"Value"}};
  for (const auto& [name, value] : facts) {
    if (!value.empty()) table.rows.push_back({{name}, {value}});
  }
  return table;
}

}  // namespace ringside
