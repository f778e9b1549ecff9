#include "worker/synchronizer_factory.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/group.h"
#include "common/status_macros.h"
#include "common/suspects.h"
#include "worker/coordinator_census.h"
#include "worker/coordinator_recovery.h"
#include "worker/nccl_factory.h"
#include "worker/ring_factory.h"
#include "worker/shard_addresses.h"
#include "worker/synchronizers/local_summer.h"
#include "worker/synchronizers/ps_exchange.h"
#include "worker/synchronizers/ps_summer.h"
#include "worker/synchronizers/server_update.h"
#include "worker/synchronizers/synchronous_update.h"

namespace ringside {
namespace {

// In asynchronous modes, from the end of the fastest worker to that of the slowest.
constexpr absl::Duration kLongestTraining = absl::Hours(24);

// One process plays all ranks.
class OneProcessFactory final : public SynchronizerFactory {
 public:
  explicit OneProcessFactory(const WorkerConfig& config) : config_(config) {}

  absl::StatusOr<Product> Make(const Meeting& meeting) override {
    LocalSummer::Config summer{config_.job.workers, *meeting.plan};
    RINGSIDE_ASSIGN_OR_RETURN(summer.wire_dtype, ParseWireDtype(config_.job.wire_dtype));
    summer.lent = config_.job.plays_at_once() || config_.job.workers == 1;
    RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<GradientSummer> made,
                              LocalSummer::Create(std::move(summer)));
    return UpdateWith(std::move(made), config_, meeting, {});
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
    PsExchange::Config exchange{group, *meeting.plan};
    RINGSIDE_ASSIGN_OR_RETURN(exchange.shards, ShardAddresses(*meeting.membership, config_.rank));
    exchange.token = config_.token;
    exchange.frame_bytes = job.frame_bytes;
    exchange.step_timeout = job.step_timeout;
    exchange.connect_timeout = job.step_timeout;
    exchange.ps_link = job.ps_link;
    exchange.tuning = job.grpc;
    exchange.gradients = meeting.gradients;
    exchange.policy = job.ps_policy();
    exchange.trace = meeting.trace;
    exchange.first_step = meeting.resumed_step;
    exchange.finish_timeout = job.step_timeout;
    // Nobody can say by how much the others are behind; a lost one is noticed by its lease.
    if (job.ps_policy().mode != PsMode::kSync) exchange.finish_timeout = kLongestTraining;
    if (meeting.membership->restart_timeout_ms() > 0) {
      exchange.recovery = std::make_shared<CoordinatorRecovery>(meeting.coordinator, config_.rank,
                                                                job.step_timeout);
    }
    RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<PsExchange> made,
                              PsExchange::Create(std::move(exchange)));
    std::map<std::string, std::string> facts = {{"ps_link", made->links_in_force()}};
    if (!job.ps_policy().server_has_parameters()) {
      return UpdateWith(std::make_unique<PsSummer>(std::move(made)), config_, meeting,
                        std::move(facts));
    }
    Product product;
    product.facts = std::move(facts);
    product.synchronizer =
        std::make_unique<ServerUpdate>(*meeting.plan, config_.rank, std::move(made));
    return product;
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
  if (config.job.is_one_process()) return std::make_unique<OneProcessFactory>(config);
  if (strategy == "nccl") return NcclFactory::Open(config);
  return absl::InvalidArgumentError(absl::StrCat("--strategy=", strategy, ": must be one of ",
                                                 absl::StrJoin(KnownStrategies(), ", ")));
}

Arena::Placement SynchronizerFactory::GradientPlacement(const WorkerConfig& config) {
  const JobConfig& job = config.job;
  // Whether a neighbour or a shard is on this host is known only after joining.
  const std::string& link = job.uses_servers() ? job.ps_link : job.ring_link;
  const bool meets = job.uses_servers() || (job.strategy == "ring" && job.workers > 1);
  return meets && (link == "auto" || link == "shm") ? Arena::Placement::kShared
                                                    : Arena::Placement::kHeap;
}

absl::StatusOr<SynchronizerFactory::Product> SynchronizerFactory::UpdateWith(
    std::unique_ptr<GradientSummer> summer, const WorkerConfig& config, const Meeting& meeting,
    std::map<std::string, std::string> facts) {
  const JobConfig& job = config.job;
  SynchronousUpdate::Config update{*meeting.plan, config.hosted_ranks(), job.scaled_optimizer(),
                                   std::move(summer), job.lr_schedule()};
  update.resumed_step = meeting.resumed_step;
  update.clip_norm = job.clip_norm;
  update.skip_nonfinite = job.on_nonfinite == "skip";
  if (meeting.coordinator != nullptr) {
    update.census = std::make_unique<CoordinatorCensus>(
        meeting.coordinator, WorkersOf(*meeting.membership), job.step_timeout);
  }
  Product product;
  product.facts = std::move(facts);
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<SynchronousUpdate> made,
                            SynchronousUpdate::Create(std::move(update)));
  product.update_state = made->State();
  product.synchronizer = std::move(made);
  return product;
}

absl::StatusOr<Endpoint> SynchronizerFactory::DataEndpoint(const Member& member) {
  auto endpoint = ParseEndpoint(member.data_endpoint());
  if (endpoint.ok()) return endpoint;
  return absl::InternalError(absl::StrCat(
      ToString(member.id()), " published no usable endpoint: ", endpoint.status().message()));
}

}  // namespace ringside
