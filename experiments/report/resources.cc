#include "experiments/report/resources.h"

#include <map>
#include <set>
#include <string>

namespace ringside {

Resources ResourcesOf(const RunResult& run) {
  std::map<std::string, std::set<int>> cores_by_machine;
  const auto add = [&cores_by_machine](const ProcessInfo& process) {
    cores_by_machine[process.hostname()].insert(process.cpus().begin(), process.cpus().end());
  };
  for (const WorkerResult& worker : run.worker_results()) add(worker.process());
  for (const ShardResult& shard : run.shard_results()) add(shard.process());
  Resources resources;
  for (const auto& [machine, cores] : cores_by_machine) {
    ++resources.hosts;
    resources.cores += cores.empty() ? run.provenance().cores() : static_cast<int>(cores.size());
  }
  // Hosts of an emulated network share the cores of the machine that they are on.
  if (run.network().hosts_size() > 0) resources.hosts = run.network().hosts_size();
  return resources;
}

}  // namespace ringside
