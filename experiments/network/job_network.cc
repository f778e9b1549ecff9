#include "experiments/network/job_network.h"

#include <string>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/status_macros.h"
#include "experiments/network/link_probe.h"
#include "experiments/network/network_commands.h"

namespace ringside {

absl::StatusOr<std::unique_ptr<JobNetwork>> JobNetwork::Create(const JobConfig& job,
                                                               const std::function<bool()>& stop) {
  HostPlan plan = PlanHosts(job);
  if (plan.empty()) return nullptr;
  EmulatedNetwork::Config config;
  config.spec = job.network_spec();
  config.hosts = static_cast<int>(plan.size());
  config.congestion_control = job.congestion_control;
  if (config.hosts > EmulatedNetwork::kMaxHosts) {
    return absl::InvalidArgumentError(absl::StrCat("--network=", job.network, ": ", config.hosts,
                                                   " hosts are too many, there may be ",
                                                   EmulatedNetwork::kMaxHosts));
  }
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<EmulatedNetwork> network,
                            EmulatedNetwork::Create(std::move(config)));
  RINGSIDE_ASSIGN_OR_RETURN(const std::vector<LinkProbe> probes, ProbeLinks(*network, stop));
  auto made = absl::WrapUnique(new JobNetwork(std::move(plan), std::move(network)));
  NetworkReport& report = made->report_;
  report.set_bandwidth_mbit(made->network_->spec().bandwidth_mbit);
  report.set_latency_us(made->network_->spec().latency_us);
  report.set_congestion_control(made->network_->congestion_control());
  report.set_burst_bytes(ShapingOf(made->network_->spec()).burst_bytes);
  for (const std::string& name : HostNames(made->plan_)) report.add_hosts(name);
  for (const LinkProbe& probe : probes) *report.add_probes() = probe;
  return made;
}

const NetworkNamespace& JobNetwork::NamespaceOf(const MemberId& member) const {
  const int host = HostOf(plan_, member);
  RINGSIDE_CHECK(host >= 0);
  return network_->host(host);
}

}  // namespace ringside
