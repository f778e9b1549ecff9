// The emulated network of one job: who runs where, and what was asked for against what is there.
#ifndef RINGSIDE_EXPERIMENTS_NETWORK_JOB_NETWORK_H_
#define RINGSIDE_EXPERIMENTS_NETWORK_JOB_NETWORK_H_

#include <functional>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "common/config/job_config.h"
#include "coordinator.pb.h"
#include "experiments/network/emulated_network.h"
#include "experiments/network/host_plan.h"
#include "results.pb.h"

namespace ringside {

// Thread-compatible; must outlive the job's processes.
class JobNetwork {
 public:
  // Null where the network of `job`, which is validated, is not emulated. Makes the network and
  // probes it, until `stop` is true (asked between two probes). Main thread only.
  // INVALID_ARGUMENT: too many hosts; others as EmulatedNetwork::Create and ProbeLinks.
  static absl::StatusOr<std::unique_ptr<JobNetwork>> Create(const JobConfig& job,
                                                            const std::function<bool()>& stop);

  // Of the member's host.
  const NetworkNamespace& NamespaceOf(const MemberId& member) const;
  // Where the coordinator listens, at ControlAddress().
  const NetworkNamespace& control_host() const { return network_->control_host(); }
  // As probed before the run.
  const NetworkReport& report() const { return report_; }
  int64_t refused_frames() const { return network_->refused_frames(); }

 private:
  JobNetwork(HostPlan plan, std::unique_ptr<EmulatedNetwork> network)
      : plan_(std::move(plan)), network_(std::move(network)) {}

  const HostPlan plan_;
  const std::unique_ptr<EmulatedNetwork> network_;
  NetworkReport report_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_NETWORK_JOB_NETWORK_H_
