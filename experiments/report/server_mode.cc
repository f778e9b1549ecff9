#include "experiments/report/server_mode.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "experiments/report/series.h"

namespace ringside {
namespace {

std::string Setting(const RunResult& run, const std::string& name) {
  const auto found = run.settings().find(name);
  return found == run.settings().end() ? "" : found->second;
}

int Number(const RunResult& run, const std::string& name) {
  int number = 0;
  return absl::SimpleAtoi(Setting(run, name), &number) ? number : 0;
}

}  // namespace

PsPolicy PolicyOf(const RunResult& run) {
  PsPolicy policy;
  if (!IsParameterServer(run.strategy())) return policy;
  policy.mode = ParsePsMode(Setting(run, "ps_mode")).value_or(PsMode::kSync);
  policy.update_on_server = policy.mode != PsMode::kSync || Setting(run, "update") == "server";
  policy.staleness = Number(run, "staleness");
  policy.backup_workers = Number(run, "backup_workers");
  return policy;
}

bool MaySkipSteps(const RunResult& run) { return PolicyOf(run).mode == PsMode::kBackup; }

bool HadLosses(const RunResult& run) {
  return std::any_of(
      run.worker_results().begin(), run.worker_results().end(),
      [](const WorkerResult& worker) { return worker.process().facts().count("recoveries") > 0; });
}

const std::vector<std::string>& ServerSettings() {
  static const auto* names =
      new std::vector<std::string>{"ps_mode", "update",        "staleness",   "backup_workers",
                                   "ps_link", "shard_threads", "snapshot_dir"};
  return *names;
}

absl::optional<std::string> ServerSetting(const RunResult& run, const std::string& name) {
  if (!IsParameterServer(run.strategy())) return absl::nullopt;
  const PsMode mode = PolicyOf(run).mode;
  if (name == "update" && mode != PsMode::kSync) return absl::nullopt;  // it is on the server
  if (name == "staleness" && mode != PsMode::kSsp) return absl::nullopt;
  if (name == "backup_workers" && mode != PsMode::kBackup) return absl::nullopt;
  return Setting(run, name);
}

}  // namespace ringside
