#include "worker/nccl_factory.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "allreduce/baselines/nccl/nccl_all_reducer.h"
#include "common/arena.h"
#include "common/config/device.h"
#include "common/group.h"
#include "common/network/host_identity.h"
#include "common/status_macros.h"
#include "worker/synchronizers/all_reduce_summer.h"

namespace ringside {

absl::StatusOr<int> CudaDeviceOf(const WorkerConfig& config, const Membership* membership) {
  RINGSIDE_ASSIGN_OR_RETURN(const Device device, ParseDevice(config.job.device));
  if (device.kind == Device::Kind::kCuda) return device.index;
  if (device.kind == Device::Kind::kCpu) {
    return absl::InvalidArgumentError(
        absl::StrCat("--device=", config.job.device, ": strategy nccl needs a GPU"));
  }
  if (config.local_rank.has_value()) return *config.local_rank;
  if (membership == nullptr) {
    return absl::UnavailableError("the local rank is counted once all have joined");
  }
  const HostIdentity& own = membership->workers(config.rank).host();
  int local_rank = 0;
  for (int rank = 0; rank < config.rank; ++rank) {
    if (SameHost(membership->workers(rank).host(), own)) ++local_rank;
  }
  return local_rank;
}

absl::StatusOr<std::unique_ptr<SynchronizerFactory>> NcclFactory::Open(const WorkerConfig& config) {
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<CudaNccl> cuda, OpenCudaNccl());
  // What is wrong with this machine should be said before anybody waits for this process. Any GPU
  // will do as long as its number is not known.
  const absl::StatusOr<int> device = CudaDeviceOf(config, nullptr);
  if (!device.ok() && !absl::IsUnavailable(device.status())) return device.status();
  RINGSIDE_RETURN_IF_ERROR(CheckCudaDevice(cuda.get(), device.value_or(0)));
  return std::make_unique<NcclFactory>(config, std::move(cuda));
}

NcclFactory::NcclFactory(const WorkerConfig& config, std::unique_ptr<CudaNccl> cuda)
    : config_(config), cuda_(std::move(cuda)) {}

absl::StatusOr<SynchronizerFactory::Product> NcclFactory::Make(const Meeting& meeting) {
  const JobConfig& job = config_.job;
  const BucketPlan& plan = *meeting.plan;
  NcclAllReducer::Config config;
  config.group = Group::World(job.workers, config_.rank, meeting.membership->generation());
  RINGSIDE_ASSIGN_OR_RETURN(config.device, CudaDeviceOf(config_, meeting.membership));
  RINGSIDE_ASSIGN_OR_RETURN(config.unique_id,
                            AgreeOnUniqueId(*meeting.membership, meeting.coordinator));
  for (int bucket = 0; bucket < plan.size(); ++bucket) {
    config.max_elements = std::max(config.max_elements, plan.bucket(bucket).length);
  }
  config.step_timeout = job.step_timeout;
  config.connect_timeout = job.step_timeout;
  const Group group = config.group;
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<NcclAllReducer> reducer,
                            NcclAllReducer::Create(std::move(config), std::move(cuda_)));
  const std::map<std::string, std::string> facts = {{"nccl", reducer->description()}};
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<Arena> sums,
                            Arena::Create(plan.total_elements(), Arena::Placement::kHeap));
  // What NCCL sends nobody can count, so nothing is expected.
  RINGSIDE_ASSIGN_OR_RETURN(
      std::unique_ptr<GradientSummer> summer,
      AllReduceSummer::Create({group, plan, std::move(reducer), std::move(sums), job.step_timeout,
                               [](int64_t /*exchanges*/) { return TrafficCounters(); },
                               meeting.trace}));
  return UpdateWith(std::move(summer), config_, meeting, facts);
}

absl::StatusOr<std::string> NcclFactory::AgreeOnUniqueId(const Membership& membership,
                                                         CoordinatorClient* coordinator) {
  std::string own;
  if (config_.rank == 0) {
    RINGSIDE_ASSIGN_OR_RETURN(own, cuda_->NewUniqueId());
  }
  RINGSIDE_ASSIGN_OR_RETURN(
      const std::vector<std::string> ids,
      coordinator->GatherForAll(absl::StrCat("nccl id of generation ", membership.generation()),
                                WorkersOf(membership), std::move(own), config_.job.step_timeout));
  return ids[0];
}

}  // namespace ringside
