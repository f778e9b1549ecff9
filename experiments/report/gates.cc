#include "experiments/report/gates.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/optional.h"
#include "experiments/report/bit_equality.h"
#include "experiments/report/ceilings.h"
#include "experiments/report/comparability.h"
#include "experiments/report/number_text.h"
#include "experiments/report/run_grid.h"
#include "experiments/report/run_samples.h"
#include "experiments/report/run_steps.h"
#include "experiments/report/series.h"
#include "experiments/report/server_mode.h"
#include "experiments/report/traffic_formula.h"

namespace ringside {
namespace {

constexpr char kAllowed[] = "differences are allowed by --allow_unequal: ";

Gate MakeGate(const std::string& name, const std::string& failure, const std::string& success) {
  Gate gate;
  gate.set_name(name);
  gate.set_passed(failure.empty());
  gate.set_detail(failure.empty() ? success : failure);
  return gate;
}

// Checks that `numbers` is 0 .. count-1, each once. Returns what is wrong.
std::string CheckNumbers(const std::multiset<int>& numbers, int count, absl::string_view noun) {
  for (int i = 0; i < count; ++i) {
    if (numbers.count(i) == 0) return absl::StrCat(noun, " ", i, " is missing");
    if (numbers.count(i) > 1) return absl::StrCat(noun, " ", i, " is there twice");
  }
  for (int number : numbers) {
    if (number < 0 || number >= count) {
      return absl::StrCat(noun, " ", number, " is one too many: there are ", count);
    }
  }
  return "";
}

std::string CheckRun(const RunResult& run) {
  if (run.total_steps() < 1) return "no step was taken";
  std::multiset<int> ranks;
  for (const WorkerResult& worker : run.worker_results()) ranks.insert(worker.rank());
  std::string wrong = CheckNumbers(ranks, WorkerProcesses(run), "worker");
  std::multiset<int> shards;
  for (const ShardResult& shard : run.shard_results()) shards.insert(shard.shard());
  if (wrong.empty()) wrong = CheckNumbers(shards, run.shards(), "shard");
  return wrong.empty() ? CheckSteps(run) : wrong;
}

// Cores on the hosts where workers run: hosts that only serve parameters are extra by intention,
// and are shown as such.
int WorkerHostCores(const RunResult& run) {
  std::set<std::string> hosts;
  std::set<std::pair<std::string, int>> cores;
  const auto add = [&](const ProcessInfo& process) {
    if (hosts.count(process.hostname()) == 0) return;
    for (int cpu : process.cpus()) cores.insert({process.hostname(), cpu});
  };
  for (const WorkerResult& worker : run.worker_results()) hosts.insert(worker.process().hostname());
  for (const WorkerResult& worker : run.worker_results()) add(worker.process());
  for (const ShardResult& shard : run.shard_results()) add(shard.process());
  return static_cast<int>(cores.size());
}

// Everything but what `space` varies.
std::vector<std::string> Differences(const RunResult& reference, const RunResult& run,
                                     const PointSpace& space) {
  std::vector<std::string> names = DifferingInvariants(reference, run);
  names.erase(std::remove_if(names.begin(), names.end(),
                             [&space](const std::string& name) { return space.Varies(name); }),
              names.end());
  return names;
}

std::string CheckInvariants(const RunResult& reference, const RunResult& run,
                            const PointSpace& space) {
  std::map<std::string, std::string> a = Invariants(reference);
  std::map<std::string, std::string> b = Invariants(run);
  const auto keep = [names = Differences(reference, run, space)](auto& values) {
    for (auto entry = values.begin(); entry != values.end();) {
      const bool named = std::find(names.begin(), names.end(), entry->first) != names.end();
      entry = named ? std::next(entry) : values.erase(entry);
    }
  };
  keep(a);
  keep(b);
  return absl::StrJoin(DescribeDifferences(a, absl::StrCat("(", RunName(reference), ")"), b,
                                           absl::StrCat("(", RunName(run), ")")),
                       "; ");
}

// What must be equal among runs with the same number of workers.
std::string CheckSameSize(const RunResult& reference, const RunResult& run) {
  if (reference.global_batch_size() != run.global_batch_size()) {
    return absl::StrCat("the global batch is ", reference.global_batch_size(), " in (",
                        RunName(reference), ") and ", run.global_batch_size(), " in (",
                        RunName(run), ")");
  }
  // With --epochs the number of steps follows the global batch, so it may differ between numbers of
  // workers.
  if (reference.total_steps() != run.total_steps() ||
      reference.warmup_steps() != run.warmup_steps()) {
    return absl::StrCat("(", RunName(reference), ") took ",
                        Counted(reference.total_steps(), "step"), ", ", reference.warmup_steps(),
                        " of them warm-up, (", RunName(run), ") ", run.total_steps(), ", ",
                        run.warmup_steps());
  }
  const int cores_before = WorkerHostCores(reference);
  const int cores_now = WorkerHostCores(run);
  if (cores_before == cores_now || IsOracle(reference.strategy()) || IsOracle(run.strategy()))
    return "";
  return absl::StrCat("(", RunName(reference), ") may use ", Counted(cores_before, "core"), ", (",
                      RunName(run), ") ", cores_now);
}

// The ranks of one run agree before the first step and after the last.
std::string CheckRanks(const RunResult& run) {
  const std::string name = RunName(run);
  if (run.worker_results().empty())
    return absl::StrCat(name, ": no worker reported its parameters");
  const WorkerResult& first = run.worker_results(0);
  for (const WorkerResult& worker : run.worker_results()) {
    if (worker.parameters_sha256().empty()) {
      return absl::StrCat(name, ": worker ", worker.rank(), " reported no hash of its parameters");
    }
    if (worker.initial_parameters_sha256() != first.initial_parameters_sha256()) {
      return absl::StrCat(name, ": worker ", worker.rank(), " started from ",
                          ShortHash(worker.initial_parameters_sha256()), ", worker ", first.rank(),
                          " from ", ShortHash(first.initial_parameters_sha256()));
    }
    if (worker.parameters_sha256() != first.parameters_sha256()) {
      return absl::StrCat(name, ": worker ", worker.rank(), " ended with ",
                          ShortHash(worker.parameters_sha256()), ", worker ", first.rank(),
                          " with ", ShortHash(first.parameters_sha256()));
    }
  }
  return "";
}

// Compares worker 0 of two runs by one of its hashes: "(ps, ...) ended with 12ab, (ring, ...) with
// 34cd". Empty when they are equal.
std::string CompareHashes(const RunResult& reference, const RunResult& run,
                          const std::string& (WorkerResult::*hash)() const, absl::string_view verb,
                          absl::string_view preposition) {
  const std::string& theirs = (reference.worker_results(0).*hash)();
  const std::string& ours = (run.worker_results(0).*hash)();
  if (ours == theirs) return "";
  return absl::StrCat("(", RunName(reference), ") ", verb, " ", preposition, " ", ShortHash(theirs),
                      ", (", RunName(run), ") ", preposition, " ", ShortHash(ours));
}

// What the equivalence gate says when it passes: which runs agree, and which need not and why.
std::string EquivalenceText(const std::vector<RunResult>& runs) {
  std::vector<std::string> strategies;
  std::set<std::string> exemptions;
  int64_t lawful = 0;
  for (const RunResult& run : runs) {
    const std::string exemption = BitExemption(run);
    if (!exemption.empty()) exemptions.insert(exemption);
    if (!exemption.empty()) continue;
    ++lawful;
    if (std::find(strategies.begin(), strategies.end(), run.strategy()) == strategies.end())
      strategies.push_back(run.strategy());
  }
  if (runs.size() == 1)
    return "all ranks of the one run ended with the same bits; no other run to compare with";
  std::sort(strategies.begin(), strategies.end(),
            [](const std::string& a, const std::string& b) { return StrategyLess(a, b); });
  const std::string agree =
      lawful == 0
          ? "all ranks of each run ended with the same bits"
          : absl::StrCat("final parameters are bit-identical in all ", Counted(lawful, "run"),
                         " of ", absl::StrJoin(strategies, ", "), ", for each number of workers");
  if (exemptions.empty()) return agree;
  return absl::StrCat(
      agree, "; other strategies may end with other bits: ", absl::StrJoin(exemptions, "; "));
}

// A formula knows nothing of what was sent again after a loss.
std::string CheckTraffic(const RunResult& run) {
  if (HadLosses(run)) return "";
  int64_t sent = 0;
  int64_t received = 0;
  for (const WorkerResult& worker : run.worker_results()) {
    const std::string difference = FirstDifference(worker.traffic(), worker.expected_traffic());
    if (!difference.empty()) {
      return absl::StrCat(RunName(run), ": worker ", worker.rank(), ", ", difference);
    }
    sent += worker.traffic().payload_bytes_sent();
    received += worker.traffic().payload_bytes_received();
  }
  for (const ShardResult& shard : run.shard_results()) {
    const std::string difference = FirstDifference(shard.traffic(), shard.expected_traffic());
    if (!difference.empty()) {
      return absl::StrCat(RunName(run), ": shard ", shard.shard(), ", ", difference);
    }
  }
  const absl::optional<int64_t> closed_form = WorkersPayloadBytes(run);
  if (!closed_form.has_value() || (sent == *closed_form && received == *closed_form)) return "";
  return absl::StrCat(RunName(run), ": all workers together sent ", WholeNumber(sent),
                      " and received ", WholeNumber(received), " payload bytes, but ",
                      Counted(run.parameter_elements(), "parameter"), " and ",
                      Counted(run.total_steps() - run.resumed_from_step(), "step"), " make ",
                      WholeNumber(*closed_form));
}

}  // namespace

std::string ShortHash(const std::string& hash) {
  constexpr size_t kDigits = 12;
  if (hash.empty()) return "(none)";
  return hash.size() <= kDigits ? hash : hash.substr(0, kDigits);
}

Gate CompletenessGate(const std::vector<RunResult>& runs, const PointSpace& space) {
  std::string failure = runs.empty() ? "there is no run" : "";
  for (const RunResult& run : runs) {
    if (!failure.empty()) break;
    const std::string wrong = CheckRun(run);
    if (!wrong.empty()) failure = absl::StrCat(RunName(run), ": ", wrong);
  }
  if (failure.empty() && !space.is_sweep()) {
    const std::vector<std::string> gaps = GridGaps(runs, space);
    if (!gaps.empty()) failure = gaps.front();
  }
  return MakeGate("completeness", failure,
                  absl::StrCat(Counted(static_cast<int64_t>(runs.size()), "run"),
                               runs.size() == 1 ? ": every rank, shard and step is there"
                                                : ": every rank, shard and step of each is there"));
}

std::vector<std::string> SplittingSettings(const std::vector<RunResult>& runs,
                                           const PointSpace& space) {
  std::map<std::pair<std::string, int>, const RunResult*> references;
  std::set<std::string> names;
  for (const RunResult& run : runs) {
    const RunResult& reference =
        *references.emplace(std::make_pair(run.strategy(), run.workers()), &run).first->second;
    for (const std::string& name : Differences(reference, run, space)) names.insert(name);
    if (reference.batch_size() != run.batch_size() && !space.Varies("batch_size"))
      names.insert("batch_size");
  }
  return {names.begin(), names.end()};
}

Gate SettingsGate(const std::vector<RunResult>& runs, const PointSpace& space, bool allow_unequal) {
  std::string failure = runs.empty() ? "there is no run" : "";
  std::map<std::string, const RunResult*> reference_by_strategy;
  std::map<int, std::vector<const RunResult*>> earlier;  // by workers
  for (const RunResult& run : runs) {
    reference_by_strategy.emplace(run.strategy(), &run);
    for (const auto& entry : reference_by_strategy) {
      if (failure.empty()) failure = CheckInvariants(*entry.second, run, space);
    }
    std::vector<const RunResult*>& same_size = earlier[run.workers()];
    const auto reference = std::find_if(
        same_size.begin(), same_size.end(),
        [&](const RunResult* other) { return AreCompatible(space.Of(*other), space.Of(run)); });
    if (failure.empty() && reference != same_size.end()) failure = CheckSameSize(**reference, run);
    same_size.push_back(&run);
  }
  if (allow_unequal && !failure.empty() && !runs.empty())
    return MakeGate("settings", "", absl::StrCat(kAllowed, failure));
  const std::string success = space.settings().empty()
                                  ? "workers, shards, batch per rank and trial alone"
                                  : absl::StrCat("workers, shards, batch per rank, trial and ",
                                                 absl::StrJoin(space.settings(), ", "), " alone");
  return MakeGate(
      "settings", failure,
      runs.size() == 1
          ? "a single run: nothing to differ from"
          : absl::StrCat("runs differ in strategy, schedule, mode and link of the parameter "
                         "server, ",
                         success));
}

Gate EquivalenceGate(const std::vector<RunResult>& runs) {
  std::string failure;
  std::map<std::string, const RunResult*> starts;
  std::map<std::string, const RunResult*> ends;
  for (size_t index = 0; index < runs.size(); ++index) {
    const RunResult& run = runs[index];
    if (failure.empty()) failure = CheckRanks(run);
    if (!failure.empty()) break;
    const std::string same_start =
        absl::StrCat(run.workers(), " ", run.global_batch_size(), "\n", InitialBitClass(run));
    const RunResult& start = *starts.emplace(same_start, &run).first->second;
    const RunResult& end = *ends.emplace(BitEqualityKey(run, index), &run).first->second;
    failure =
        CompareHashes(start, run, &WorkerResult::initial_parameters_sha256, "started", "from");
    if (failure.empty())
      failure = CompareHashes(end, run, &WorkerResult::parameters_sha256, "ended", "with");
  }
  return MakeGate("equivalence", runs.empty() ? "there is no run" : failure, EquivalenceText(runs));
}

Gate TrafficGate(const std::vector<RunResult>& runs) {
  std::string failure = runs.empty() ? "there is no run" : "";
  for (const RunResult& run : runs) {
    if (failure.empty()) failure = CheckTraffic(run);
  }
  return MakeGate("traffic", failure,
                  "every process counted exactly the bytes and messages of its formula");
}

Gate CeilingsGate(const std::vector<RunResult>& runs) {
  const CeilingBook book(runs);
  const RunResult* nearest = nullptr;
  absl::optional<CeilingUse> most;
  for (const RunResult& run : runs) {
    const absl::optional<CeilingUse> use = book.MostUsed(run);
    if (!use.has_value() || (most.has_value() && use->share() <= most->share())) continue;
    most = use;
    nearest = &run;
  }
  std::string failure = runs.empty() ? "there is no run" : "";
  if (!most.has_value()) return MakeGate("ceilings", failure, "not probed");
  if (!most->is_possible()) {
    failure = absl::StrCat(RunName(*nearest), ": a ", most->process, " moved ", DescribeUse(*most),
                           "; above ", Percent(1 + kCeilingTolerance, 0),
                           " of that, bytes or times are not what they are said to be");
  }
  return MakeGate("ceilings", failure,
                  absl::StrCat("a ", most->process, " of ", nearest->strategy(), " with ",
                               Counted(nearest->workers(), "worker"), " moved ", DescribeUse(*most),
                               ": ", RoundedNumber(100 * most->share()), " %, which is the most"));
}

std::vector<Gate> AllGates(const std::vector<RunResult>& runs, const GateRules& rules) {
  return {CompletenessGate(runs, rules.space), SettingsGate(runs, rules.asked, rules.allow_unequal),
          EquivalenceGate(runs), TrafficGate(runs), CeilingsGate(runs)};
}

bool AllowedToDiffer(const Gate& gate) { return absl::StartsWith(gate.detail(), kAllowed); }

}  // namespace ringside
