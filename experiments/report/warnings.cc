#include "experiments/report/warnings.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "experiments/report/core_load.h"
#include "experiments/report/number_text.h"
#include "experiments/report/point.h"
#include "experiments/report/run_grid.h"
#include "experiments/report/run_samples.h"
#include "experiments/report/series.h"
#include "experiments/report/server_mode.h"
#include "experiments/report/setting_text.h"
#include "experiments/report/transport.h"

namespace ringside {
namespace {

std::string CellName(const Cell& cell, const SeriesNames& names) {
  return absl::StrCat(names.Of(cell), " with ", PlaceText(cell.workers(), PointOf(cell)));
}

// Nothing computes while a rank waits for its time to pass.
bool Sleeps(const RunResult& run) {
  return SettingOf(run, "model") == "shapes" &&
         !absl::StrContains(SettingOf(run, "model_args"), "compute=spin");
}

void WarnOfOversubscription(const std::vector<RunResult>& runs,
                            std::vector<std::string>& warnings) {
  std::vector<std::string> found;
  bool all_sleep = true;
  for (const RunResult& run : runs) {
    const CoreLoad load = LoadOf(run);
    if (!load.oversubscribed()) continue;
    all_sleep = all_sleep && Sleeps(run);
    const std::string text = absl::StrCat(
        run.strategy(), " with ", Counted(run.workers(), "worker"), " (", LoadText(load), ")");
    if (std::find(found.begin(), found.end(), text) == found.end()) found.push_back(text);
  }
  if (found.empty()) return;
  warnings.push_back(absl::StrCat(
      "Oversubscribed cores: ", absl::StrJoin(found, ", "),
      ". Processes wait for each other's core there, so these numbers say little about "
      "machines with a core for each process.",
      all_sleep ? " Their compute sleeps and needs no core: it is the communication of one that "
                  "waits for that of another."
                : ""));
}

void WarnOfSingleHost(const std::vector<RunResult>& runs, std::vector<std::string>& warnings) {
  std::set<std::string> hosts;
  bool several_processes = false;
  for (const RunResult& run : runs) {
    if (run.network().hosts_size() > 1) return;  // emulated, which the report tells
    several_processes =
        several_processes || run.worker_results_size() + run.shard_results_size() > 1;
    for (const WorkerResult& worker : run.worker_results())
      hosts.insert(worker.process().hostname());
    for (const ShardResult& shard : run.shard_results()) hosts.insert(shard.process().hostname());
  }
  if (hosts.size() != 1 || !several_processes) return;
  warnings.push_back(absl::StrCat(
      "Single host: all processes ran on ", *hosts.begin(),
      ", so no gradient crossed a network. What one adds, in bandwidth or delay, is not "
      "measured."));
}

void WarnOfSkippedSteps(const std::vector<RunResult>& runs, std::vector<std::string>& warnings) {
  std::vector<std::string> found;
  for (const RunResult& run : runs) {
    if (run.skipped_steps() == 0) continue;
    found.push_back(
        absl::StrCat(RunName(run), " (", run.skipped_steps(), " of ", run.total_steps(), ")"));
  }
  if (found.empty()) return;
  warnings.push_back(
      absl::StrCat("Skipped steps: a gradient was not finite, and no rank applied it: ",
                   absl::StrJoin(found, ", "), "."));
}

void WarnOfCells(const std::vector<Cell>& cells, std::vector<std::string>& warnings) {
  const SeriesNames names(cells);
  std::vector<std::string> noisy;
  std::vector<std::string> empty;
  int fewest_trials = kFewTrials;
  for (const Cell& cell : cells) {
    if (cell.counted_steps() == 0) empty.push_back(CellName(cell, names));
    if (cell.cv() > kNoisyCv) {
      noisy.push_back(absl::StrCat(CellName(cell, names), " (", Percent(cell.cv(), 1), ")"));
    }
    if (!IsOracle(cell.strategy())) fewest_trials = std::min(fewest_trials, cell.trials());
  }
  if (!empty.empty()) {
    warnings.push_back(absl::StrCat("Nothing measured: the warm-up covers every step of ",
                                    absl::StrJoin(empty, ", "),
                                    ". Take more steps, or lower --warmup_steps."));
  }
  if (!noisy.empty()) {
    warnings.push_back(absl::StrCat("Noisy: the median step times of the trials vary by more than ",
                                    Percent(kNoisyCv, 0), " for ", absl::StrJoin(noisy, ", "),
                                    "."));
  }
  if (fewest_trials < kFewTrials && !cells.empty()) {
    warnings.push_back(absl::StrCat("Few trials: with ", Counted(fewest_trials, "trial"),
                                    " intervals are narrower than they claim to be. Run at least ",
                                    kFewTrials, "."));
  }
}

// Congestion control of the sockets that carry gradients: the ring sets its own, gRPC's follow the
// system. Empty where there are none.
std::string CongestionControl(const RunResult& run) {
  if (WorkerProcesses(run) + run.shards() < 2 || run.worker_results().empty()) return "";
  const auto& facts = run.worker_results(0).process().facts();
  const auto of_ring = facts.find("ring_congestion_control");
  const auto of_system = facts.find("congestion_control");
  if (of_ring != facts.end()) return of_ring->second;
  if (!TransportOf(run).empty() && !UsesTcp(run)) return "";
  return of_system == facts.end() ? "" : of_system->second;
}

void WarnOfTransport(const std::vector<RunResult>& runs, std::vector<std::string>& warnings) {
  std::map<std::string, std::set<std::string>> strategies;  // by transport
  for (const RunResult& run : runs) {
    const std::string transport = TransportOf(run);
    if (!transport.empty()) strategies[transport].insert(run.strategy());
  }
  if (strategies.size() < 2) return;
  std::vector<std::string> parts;
  for (const auto& [transport, names] : strategies)
    parts.push_back(absl::StrCat(absl::StrJoin(names, ", "), " over ", transport));
  warnings.push_back(absl::StrCat(
      "Transport differs: ", absl::StrJoin(parts, "; "),
      ". These runs compare transports as well as topologies. Rings and servers over one link "
      "(--ring_link=grpc or --ring_link=shm against --ps_link=grpc_tcp or --ps_link=shm) compare "
      "topologies alone."));
}

void WarnOfCongestionControl(const std::vector<RunResult>& runs,
                             std::vector<std::string>& warnings) {
  std::map<std::string, std::set<std::string>> strategies;  // by congestion control
  for (const RunResult& run : runs) {
    const std::string control = CongestionControl(run);
    if (!control.empty()) strategies[control].insert(run.strategy());
  }
  if (strategies.size() > 1) {
    std::vector<std::string> parts;
    for (const auto& [control, names] : strategies)
      parts.push_back(absl::StrCat(absl::StrJoin(names, ", "), " over ", control));
    warnings.push_back(absl::StrCat("Congestion control differs: ", absl::StrJoin(parts, "; "),
                                    ". Strategies then differ in more than topology."));
  } else if (strategies.count("bbr") > 0) {
    warnings.push_back(
        "Congestion control is bbr: on loopback it moves about half of what cubic or reno does.");
  }
}

// "--ps_mode is async in ps async, sync in ps", for every setting of parameter servers that
// differs.
void WarnOfServerSettings(const std::vector<RunResult>& runs, std::vector<std::string>& warnings) {
  std::vector<std::string> differences;
  for (const std::string& name : ServerSettings()) {
    std::map<std::string, std::set<std::string>> strategies;  // by value
    for (const RunResult& run : runs) {
      const absl::optional<std::string> value = ServerSetting(run, name);
      if (value.has_value()) strategies[*value].insert(run.strategy());
    }
    if (strategies.size() < 2) continue;
    std::vector<std::string> parts;
    for (const auto& [value, names] : strategies)
      parts.push_back(
          absl::StrCat(value.empty() ? "empty" : value, " in ", absl::StrJoin(names, ", ")));
    differences.push_back(absl::StrCat("--", name, " is ", absl::StrJoin(parts, "; ")));
  }
  if (differences.empty()) return;
  warnings.push_back(
      absl::StrCat("Parameter servers differ: ", absl::StrJoin(differences, ". "), "."));
}

void WarnOfWarmUp(const std::vector<RunResult>& runs, std::vector<std::string>& warnings) {
  std::vector<std::string> found;
  for (const RunResult& run : runs) {
    const std::string text =
        absl::StrCat(run.strategy(), " with ", Counted(run.workers(), "worker"));
    if (run.warmup_steps() > 0 || run.total_steps() < 1) continue;
    if (std::find(found.begin(), found.end(), text) == found.end()) found.push_back(text);
  }
  if (found.empty()) return;
  warnings.push_back(absl::StrCat("No warm-up: every step counts, the first ones included, for ",
                                  absl::StrJoin(found, ", "),
                                  ". Take more steps than --warmup_steps."));
}

// A sweep may leave gaps on purpose; a comparison fails its gate there.
void WarnOfGaps(const std::vector<RunResult>& runs, const PointSpace& space,
                std::vector<std::string>& warnings) {
  if (!space.is_sweep()) return;
  const std::vector<std::string> gaps = GridGaps(runs, space);
  if (gaps.empty()) return;
  warnings.push_back(
      absl::StrCat("Not everything was run everywhere: ", absl::StrJoin(gaps, "; "), "."));
}

void WarnOfLosses(const std::vector<RunResult>& runs, std::vector<std::string>& warnings) {
  std::vector<std::string> names;
  for (const RunResult& run : runs) {
    if (HadLosses(run)) names.push_back(RunName(run));
  }
  if (names.empty()) return;
  warnings.push_back(absl::StrCat("A shard was lost and replaced in (",
                                  absl::StrJoin(names, "), ("),
                                  "): its times contain the recovery, and its bytes, some of which "
                                  "were sent twice, are not checked against the formula."));
}

void WarnOfMode(const std::vector<RunResult>& runs, std::vector<std::string>& warnings) {
  std::set<std::string> relaxed;
  for (const RunResult& run : runs) {
    if (PolicyOf(run).mode != PsMode::kSync) relaxed.insert(run.strategy());
  }
  if (relaxed.empty()) return;
  warnings.push_back(absl::StrCat(
      "Another algorithm: ", absl::StrJoin(relaxed, ", "), relaxed.size() == 1 ? " does" : " do",
      " not wait for every gradient of a step, so that a step there is not worth a synchronous "
      "one. Read its speed beside the loss and the accuracy that it reached."));
}

void WarnOfPrecision(const std::vector<RunResult>& runs, std::vector<std::string>& warnings) {
  const auto lacks_kernels = [](const WorkerResult& worker) {
    const auto& facts = worker.process().facts();
    const auto found = facts.find("bf16_kernels");
    return found != facts.end() && found->second == "no";
  };
  for (const RunResult& run : runs) {
    const auto& workers = run.worker_results();
    if (!std::any_of(workers.begin(), workers.end(), lacks_kernels)) continue;
    warnings.push_back(
        "Precision bf16 without kernels: the CPU lacks AVX-512, so LibTorch computed in plain "
        "loops, slower than in fp32, and its convolutions added up in bfloat16. Communication "
        "looks cheaper beside that than it is, and losses differ from those of other CPUs.");
    return;
  }
}

void WarnOfBuild(const std::vector<RunResult>& runs, std::vector<std::string>& warnings) {
  for (const RunResult& run : runs) {
    const std::string& type = run.provenance().build_type();
    if (type.empty() || type == "Release" || type == "RelWithDebInfo") continue;
    warnings.push_back(
        absl::StrCat("Build type ", type, ": times of a build that is not optimised mean little."));
    return;
  }
}

}  // namespace

std::vector<std::string> BuildWarnings(const std::vector<RunResult>& runs,
                                       const std::vector<Cell>& cells, const PointSpace& space) {
  std::vector<std::string> warnings;
  WarnOfOversubscription(runs, warnings);
  WarnOfSingleHost(runs, warnings);
  WarnOfCells(cells, warnings);
  WarnOfWarmUp(runs, warnings);
  WarnOfGaps(runs, space, warnings);
  WarnOfSkippedSteps(runs, warnings);
  WarnOfTransport(runs, warnings);
  WarnOfCongestionControl(runs, warnings);
  WarnOfLosses(runs, warnings);
  WarnOfServerSettings(runs, warnings);
  WarnOfMode(runs, warnings);
  WarnOfPrecision(runs, warnings);
  WarnOfBuild(runs, warnings);
  return warnings;
}

}  // namespace ringside
