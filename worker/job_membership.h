// A worker process's membership in its job: the coordinator, where this process hosts it, the
// client of the coordinator, and what a verdict does here.
//
// Used by one thread.
#ifndef RINGSIDE_WORKER_JOB_MEMBERSHIP_H_
#define RINGSIDE_WORKER_JOB_MEMBERSHIP_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/coordinator/coordinator_client.h"
#include "common/coordinator/coordinator_server.h"
#include "coordinator.pb.h"
#include "worker/synchronizers/gradient_synchronizer.h"
#include "worker/verdict_watch.h"
#include "worker/worker_config.h"

namespace ringside {

class JobMembership {
 public:
  // Blocks until all members have joined. `config` has a coordinator; `request` says what this
  // process brings along (SynchronizerFactory::Announce) and what all must have in common; who it
  // is is added. From then on a verdict that finds the calling thread in a computation that takes
  // longer than the rest of a lease ends the process. Errors: those of CoordinatorClient::Join;
  // FAILED_PRECONDITION: the address of the coordinator that is to be hosted cannot be bound.
  static absl::StatusOr<std::unique_ptr<JobMembership>> Join(const WorkerConfig& config,
                                                             JoinRequest request);

  // Until Leave.
  CoordinatorClient* client() const { return client_.get(); }

  // Borrows what a verdict aborts; it must outlive this object or Leave.
  void Attach(GradientSynchronizer* synchronizer) { watch_->Attach(synchronizer); }

  // Ends the membership, once; `step` is where a failure was. A hosted coordinator stays for up to
  // a lease, as long as others need it. Returns what to end with.
  absl::Status Leave(absl::Status status, int64_t step);

 private:
  explicit JobMembership(const WorkerConfig& config) : config_(config) {}

  absl::Status StartCoordinator();
  absl::Status JoinWith(JoinRequest request);
  [[noreturn]] void EndNow(const absl::Status& verdict);

  const WorkerConfig config_;
  // In the order of making, so that what is used goes after its users.
  std::unique_ptr<CoordinatorServer> server_;  // where this process hosts it
  std::unique_ptr<VerdictWatch> watch_;
  std::unique_ptr<CoordinatorClient> client_;
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_JOB_MEMBERSHIP_H_
