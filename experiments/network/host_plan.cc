#include "experiments/network/host_plan.h"

#include "common/suspects.h"

namespace ringside {

HostPlan PlanHosts(const JobConfig& job) {
  HostPlan plan(job.network_hosts());
  if (plan.empty()) return plan;
  for (int rank = 0; rank < job.workers; ++rank) plan[rank].push_back(WorkerId(rank));
  for (int shard = 0; shard < job.shards(); ++shard) {
    const int host = job.placement == "colocated" ? shard % job.workers : job.workers + shard;
    plan[host].push_back(ShardId(shard));
  }
  return plan;
}

int HostOf(const HostPlan& plan, const MemberId& member) {
  for (size_t host = 0; host < plan.size(); ++host) {
    for (const MemberId& present : plan[host]) {
      if (present.role() == member.role() && present.rank() == member.rank())
        return static_cast<int>(host);
    }
  }
  return -1;
}

std::vector<std::string> HostNames(const HostPlan& plan) {
  std::vector<std::string> names;
  for (const std::vector<MemberId>& members : plan) names.push_back(ToString(members));
  return names;
}

}  // namespace ringside
