#include "experiments/report/core_load.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "experiments/report/number_text.h"

namespace ringside {
namespace {

int ThreadsPerRank(const RunResult& run) {
  const auto found = run.settings().find("threads");
  int threads = 1;
  if (found == run.settings().end() || !absl::SimpleAtoi(found->second, &threads)) return 1;
  return std::max(threads, 1);
}

struct HostLoad {
  int threads = 0;
  std::set<int> cores;
};

}  // namespace

CoreLoad LoadOf(const RunResult& run) {
  std::map<std::string, HostLoad> hosts;
  const auto add = [&hosts](const ProcessInfo& process, int threads) {
    HostLoad& host = hosts[process.hostname()];
    host.threads += threads;
    host.cores.insert(process.cpus().begin(), process.cpus().end());
  };
  for (const WorkerResult& worker : run.worker_results())
    add(worker.process(), ThreadsPerRank(run));
  for (const ShardResult& shard : run.shard_results()) add(shard.process(), 1);
  CoreLoad worst;
  for (const auto& [name, host] : hosts) {
    const int cores =
        host.cores.empty() ? run.provenance().cores() : static_cast<int>(host.cores.size());
    if (worst.threads == 0 || host.threads * worst.cores > worst.threads * cores)
      worst = {host.threads, cores};
  }
  return worst;
}

CoreLoad LoadOf(const Cell& cell) { return {cell.busy_threads(), cell.busy_cores()}; }

std::string LoadText(const CoreLoad& load) {
  return absl::StrCat(load.threads, load.threads == 1 ? " thread on " : " threads on ",
                      Counted(load.cores, "core"));
}

}  // namespace ringside
