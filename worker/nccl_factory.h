// Makes the synchronizer of strategy nccl: NCCL sums the gradients, one GPU per rank.
#ifndef RINGSIDE_WORKER_NCCL_FACTORY_H_
#define RINGSIDE_WORKER_NCCL_FACTORY_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "allreduce/baselines/nccl/cuda_nccl.h"
#include "common/coordinator/coordinator_client.h"
#include "worker/synchronizer_factory.h"

namespace ringside {

// The GPU that --device means for this process. Without a word of the launcher's, the local rank is
// counted: the workers of the same host (boot id and network namespace) that have a lower rank.
// INVALID_ARGUMENT: no --device of a GPU; UNAVAILABLE: the local rank cannot be known before the
// job is joined (`membership` is null).
absl::StatusOr<int> CudaDeviceOf(const WorkerConfig& config, const Membership* membership);

// Thread-compatible.
class NcclFactory final : public SynchronizerFactory {
 public:
  // FAILED_PRECONDITION: this build has no NCCL, or this machine no such GPU; one line.
  static absl::StatusOr<std::unique_ptr<SynchronizerFactory>> Open(const WorkerConfig& config);
  NcclFactory(const WorkerConfig& config, std::unique_ptr<CudaNccl> cuda);

  // Worker 0 makes the id of the communicator, and all learn it through `coordinator` under a name
  // that carries the generation. Errors are those of GatherForAll and of NcclAllReducer::Create.
  absl::StatusOr<Product> Make(const Meeting& meeting) override;

 private:
  absl::StatusOr<std::string> AgreeOnUniqueId(const Membership& membership,
                                              CoordinatorClient* coordinator);

  const WorkerConfig config_;
  std::unique_ptr<CudaNccl> cuda_;  // null once Make was called
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_NCCL_FACTORY_H_
