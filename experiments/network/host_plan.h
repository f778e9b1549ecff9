// Which processes of a job share an emulated host. Pure.
#ifndef RINGSIDE_EXPERIMENTS_NETWORK_HOST_PLAN_H_
#define RINGSIDE_EXPERIMENTS_NETWORK_HOST_PLAN_H_

#include <string>
#include <vector>

#include "common/config/job_config.h"
#include "coordinator.pb.h"

namespace ringside {

// One entry a host: who runs there, workers before shards. Host r has worker r. Empty where the
// network of `job`, which is validated, is not emulated (JobConfig::network_hosts).
using HostPlan = std::vector<std::vector<MemberId>>;

HostPlan PlanHosts(const JobConfig& job);

// Index of the member's host; -1: it has none.
int HostOf(const HostPlan& plan, const MemberId& member);

// "worker 0, shard 0" for each host.
std::vector<std::string> HostNames(const HostPlan& plan);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_NETWORK_HOST_PLAN_H_
