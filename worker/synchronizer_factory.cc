#include "worker/synchronizer_factory.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/group.h"
#include "common/network/host_identity.h"
#include "common/status_macros.h"
#include "common/suspects.h"
#include "worker/nccl_factory.h"
#include "worker/ring_factory.h"
#include "worker/synchronizers/local_summer.h"
#include "worker/synchronizers/ps_summer.h"
#include "worker/synchronizers/synchronous_update.h"

namespace ringside {
namespace {

class LocalFactory final : public SynchronizerFactory {
 public:
  explicit LocalFactory(const WorkerConfig& config) : config_(config) {}

  absl::StatusOr<Product> Make(const Meeting& meeting) override {
    LocalSummer::Config summer{config_.job.workers, *meeting.plan};
    RINGSIDE_ASSIGN_OR_RETURN(summer.wire_dtype, ParseWireDtype(config_.job.wire_dtype));
    RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<GradientSummer> made,
                              LocalSummer::Create(std::move(summer)));
    return UpdateWith(std::move(made), config_, *meeting.plan, {});
  }

 private:
  const WorkerConfig config_;
};

class PsFactory final : public SynchronizerFactory {
 public:
  explicit PsFactory(const WorkerConfig& config) : config_(config) {}

  absl::StatusOr<Product> Make(const Meeting& meeting) override {
    const JobConfig& job = config_.job;
    const Group group = Group::World(job.workers, config_.rank, meeting.membership->generation());
    PsSummer::Config summer{group, *meeting.plan};
    const HostIdentity& own = meeting.membership->workers(config_.rank).host();
    for (const Member& shard : meeting.membership->shards()) {
      ShardAddress& address = summer.shards.emplace_back();
      RINGSIDE_ASSIGN_OR_RETURN(address.tcp, DataEndpoint(shard));
      address.local = shard.local_endpoint();
      address.memory = shard.memory_endpoint();
      address.same_host = SameHost(own, shard.host());
    }
    summer.token = config_.token;
    summer.frame_bytes = job.frame_bytes;
    summer.step_timeout = job.step_timeout;
    summer.connect_timeout = job.step_timeout;
    summer.ps_link = job.ps_link;
    summer.tuning = job.grpc;
    summer.gradients = meeting.gradients;
    RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<PsSummer> made, PsSummer::Create(std::move(summer)));
    std::map<std::string, std::string> facts = {{"ps_link", made->links()}};
    return UpdateWith(std::move(made), config_, *meeting.plan, std::move(facts));
  }

 private:
  const WorkerConfig config_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<SynchronizerFactory>> SynchronizerFactory::Create(
    const WorkerConfig& config) {
  const std::string& strategy = config.job.strategy;
  if (strategy == "ring") return RingFactory::Open(config);
  if (strategy == "ps") return std::make_unique<PsFactory>(config);
  if (strategy == "local") return std::make_unique<LocalFactory>(config);
  if (strategy == "nccl") return NcclFactory::Open(config);
  return absl::InvalidArgumentError(absl::StrCat("--strategy=", strategy, ": must be one of ",
                                                 absl::StrJoin(KnownStrategies(), ", ")));
}

Arena::Placement SynchronizerFactory::GradientPlacement(const WorkerConfig& config) {
  const JobConfig& job = config.job;
  const auto shares = [](const std::string& link) { return link == "auto" || link == "shm"; };
  const bool by_ring = job.strategy == "ring" && job.workers > 1 && shares(job.ring_link);
  const bool by_shards = job.strategy == "ps" && shares(job.ps_link);
  return by_ring || by_shards ? Arena::Placement::kShared : Arena::Placement::kHeap;
}

absl::StatusOr<SynchronizerFactory::Product> SynchronizerFactory::UpdateWith(
    std::unique_ptr<GradientSummer> summer, const WorkerConfig& config, const BucketPlan& plan,
    std::map<std::string, std::string> facts) {
  Product product;
  product.facts = std::move(facts);
  RINGSIDE_ASSIGN_OR_RETURN(product.synchronizer,
                            SynchronousUpdate::Create({plan, config.hosted_ranks(),
                                                       config.job.optimizer, std::move(summer)}));
  return product;
}

absl::StatusOr<Endpoint> SynchronizerFactory::DataEndpoint(const Member& member) {
  auto endpoint = ParseEndpoint(member.data_endpoint());
  if (endpoint.ok()) return endpoint;
  return absl::InternalError(absl::StrCat(
      ToString(member.id()), " published no usable endpoint: ", endpoint.status().message()));
}

}  // namespace ringside
