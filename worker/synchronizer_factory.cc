#include "worker/synchronizer_factory.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "allreduce/ring_all_reducer.h"
#include "allreduce/ring_traffic.h"
#include "allreduce/tcp_ring_link.h"
#include "common/group.h"
#include "common/network/bind_address.h"
#include "common/status_macros.h"
#include "common/suspects.h"
#include "worker/synchronizers/all_reduce_summer.h"
#include "worker/synchronizers/local_summer.h"
#include "worker/synchronizers/ps_summer.h"
#include "worker/synchronizers/synchronous_update.h"

namespace ringside {
namespace {

using Product = SynchronizerFactory::Product;

// What all strategies share: the update by the optimizer on top of a summer.
absl::StatusOr<Product> UpdateWith(std::unique_ptr<GradientSummer> summer,
                                   const WorkerConfig& config, const BucketPlan& plan,
                                   std::map<std::string, std::string> facts) {
  Product product;
  product.facts = std::move(facts);
  RINGSIDE_ASSIGN_OR_RETURN(product.synchronizer,
                            SynchronousUpdate::Create({plan, config.hosted_ranks(),
                                                       config.job.optimizer, std::move(summer)}));
  return product;
}

absl::StatusOr<Endpoint> DataEndpoint(const Member& member) {
  auto endpoint = ParseEndpoint(member.data_endpoint());
  if (endpoint.ok()) return endpoint;
  return absl::InternalError(absl::StrCat(
      ToString(member.id()), " published no usable endpoint: ", endpoint.status().message()));
}

class LocalFactory final : public SynchronizerFactory {
 public:
  explicit LocalFactory(const WorkerConfig& config) : config_(config) {}

  std::string data_endpoint() const override { return ""; }

  absl::StatusOr<Product> Make(const Membership& /*membership*/, const BucketPlan& plan) override {
    RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<GradientSummer> summer,
                              LocalSummer::Create({config_.job.workers, plan}));
    return UpdateWith(std::move(summer), config_, plan, {});
  }

 private:
  const WorkerConfig config_;
};

class RingFactory final : public SynchronizerFactory {
 public:
  static absl::StatusOr<std::unique_ptr<SynchronizerFactory>> Open(const WorkerConfig& config) {
    std::unique_ptr<TcpRingListener> listener;
    if (config.job.workers > 1) {
      RINGSIDE_ASSIGN_OR_RETURN(const BindAddress bind,
                                ChooseBindAddress(config.network, *config.coordinator));
      RINGSIDE_ASSIGN_OR_RETURN(listener, TcpRingListener::Open(bind));
    }
    return std::make_unique<RingFactory>(config, std::move(listener));
  }

  RingFactory(const WorkerConfig& config, std::unique_ptr<TcpRingListener> listener)
      : config_(config), listener_(std::move(listener)) {}

  std::string data_endpoint() const override {
    return listener_ == nullptr ? "" : ToString(listener_->endpoint());
  }

  absl::StatusOr<Product> Make(const Membership& membership, const BucketPlan& plan) override {
    const JobConfig& job = config_.job;
    const Group group = Group::World(job.workers, config_.rank, membership.generation());
    std::map<std::string, std::string> facts;
    std::unique_ptr<TcpRingLink> link;
    if (group.size() > 1) {
      RINGSIDE_ASSIGN_OR_RETURN(link, Connect(group, membership, plan));
      facts["ring_congestion_control"] = link->congestion_control();
    }
    RINGSIDE_ASSIGN_OR_RETURN(
        std::unique_ptr<AllReducer> reducer,
        RingAllReducer::Create({group, std::move(link), job.frame_bytes, job.step_timeout}));
    AllReduceSummer::Config summer_config{group, plan, std::move(reducer), job.step_timeout, {}};
    const int64_t segment_elements = job.frame_bytes / static_cast<int64_t>(sizeof(float));
    summer_config.expected_traffic = [plan, group, segment_elements](int64_t exchanges) {
      return RingTraffic(plan, group.size(), group.index, segment_elements, exchanges);
    };
    RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<GradientSummer> summer,
                              AllReduceSummer::Create(std::move(summer_config)));
    return UpdateWith(std::move(summer), config_, plan, std::move(facts));
  }

 private:
  absl::StatusOr<std::unique_ptr<TcpRingLink>> Connect(const Group& group,
                                                       const Membership& membership,
                                                       const BucketPlan& plan) {
    TcpRingLink::Config link;
    link.group = group;
    RINGSIDE_ASSIGN_OR_RETURN(link.right, DataEndpoint(membership.workers(group.right())));
    link.token = config_.token;
    link.plan_hash = plan.hash();
    link.congestion_control = config_.job.congestion_control;
    link.connect_timeout = config_.job.step_timeout;
    return TcpRingLink::Connect(std::move(listener_), std::move(link));
  }

  const WorkerConfig config_;
  std::unique_ptr<TcpRingListener> listener_;  // null for a ring of one, and once connected
};

class PsFactory final : public SynchronizerFactory {
 public:
  explicit PsFactory(const WorkerConfig& config) : config_(config) {}

  std::string data_endpoint() const override { return ""; }

  absl::StatusOr<Product> Make(const Membership& membership, const BucketPlan& plan) override {
    const JobConfig& job = config_.job;
    const Group group = Group::World(job.workers, config_.rank, membership.generation());
    std::vector<Endpoint> shards;
    for (const Member& shard : membership.shards()) {
      RINGSIDE_ASSIGN_OR_RETURN(Endpoint endpoint, DataEndpoint(shard));
      shards.push_back(std::move(endpoint));
    }
    RINGSIDE_ASSIGN_OR_RETURN(
        std::unique_ptr<GradientSummer> summer,
        PsSummer::Create({group, plan, std::move(shards), config_.token, job.frame_bytes,
                          job.step_timeout, job.step_timeout}));
    return UpdateWith(std::move(summer), config_, plan, {});
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
  return absl::InvalidArgumentError(absl::StrCat("--strategy=", strategy, ": must be one of ",
                                                 absl::StrJoin(KnownStrategies(), ", ")));
}

}  // namespace ringside
