// Makes the synchronizer that --strategy names; the only switch on it.
//
// In two phases, because what a process listens on must be open before it joins, and whom it talks
// to is known after. Thread-compatible.
#ifndef RINGSIDE_WORKER_SYNCHRONIZER_FACTORY_H_
#define RINGSIDE_WORKER_SYNCHRONIZER_FACTORY_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "common/arena.h"
#include "common/bucket_plan.h"
#include "common/coordinator/coordinator_client.h"
#include "common/network/endpoint.h"
#include "common/trace/trace_buffer.h"
#include "coordinator.pb.h"
#include "worker/synchronizers/gradient_summer.h"
#include "worker/synchronizers/gradient_synchronizer.h"
#include "worker/synchronizers/update_state.h"
#include "worker/worker_config.h"

namespace ringside {

class SynchronizerFactory {
 public:
  struct Product {
    std::unique_ptr<GradientSynchronizer> synchronizer;
    std::map<std::string, std::string> facts;  // settings in force, for the results
    // To be saved and restored with the parameters; lives as long as the synchronizer. Unset: the
    // shards have it.
    absl::optional<UpdateState> update_state;
  };

  // Opens what must be listened on. INVALID_ARGUMENT: an unknown strategy, or network options that
  // name no address. UNAVAILABLE: no port is free.
  static absl::StatusOr<std::unique_ptr<SynchronizerFactory>> Create(const WorkerConfig& config);
  virtual ~SynchronizerFactory() = default;

  // Where the trainer should put the gradients, so that neighbours or shards can read them. Known
  // before anything is opened.
  static Arena::Placement GradientPlacement(const WorkerConfig& config);

  // Writes down where others connect to; nothing where nobody connects to a worker.
  virtual void Announce(Member* /*member*/) const {}

  // What is known once all have joined. All are borrowed for the call, but for the gradients, which
  // outlive the synchronizer.
  struct Meeting {
    const Membership* membership = nullptr;  // of a job that is this process alone: nobody is in it
    const BucketPlan* plan = nullptr;
    const Arena* gradients = nullptr;
    CoordinatorClient* coordinator = nullptr;  // null: this process is the whole job
    int64_t resumed_step = 0;                  // of the checkpoint that the job goes on from
    TraceBuffer* trace = nullptr;              // outlives the synchronizer; null: none
  };
  // Called once. Blocks until the links are up. Errors are those of the links, with suspects.
  virtual absl::StatusOr<Product> Make(const Meeting& meeting) = 0;

 protected:
  // What all synchronous strategies share: the update by the optimizer on top of a summer.
  static absl::StatusOr<Product> UpdateWith(std::unique_ptr<GradientSummer> summer,
                                            const WorkerConfig& config, const Meeting& meeting,
                                            std::map<std::string, std::string> facts);
  // INTERNAL: it has published none that can be read.
  static absl::StatusOr<Endpoint> DataEndpoint(const Member& member);
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_SYNCHRONIZER_FACTORY_H_
