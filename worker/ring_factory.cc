#include "worker/ring_factory.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/reduction.h"
#include "common/status_macros.h"
#include "worker/synchronizers/all_reduce_summer.h"
#include "worker/synchronizers/local_summer.h"

namespace ringside {
namespace {

int64_t LongestBucket(const BucketPlan& plan) {
  const std::vector<int64_t> lengths = plan.lengths();
  return *std::max_element(lengths.begin(), lengths.end());
}

}  // namespace

absl::StatusOr<std::unique_ptr<SynchronizerFactory>> RingFactory::Open(const WorkerConfig& config) {
  auto factory = std::make_unique<RingFactory>(config);
  if (config.job.workers == 1) return factory;
  RINGSIDE_ASSIGN_OR_RETURN(const BindAddress bind,
                            ChooseBindAddress(config.network, *config.coordinator));
  if (config.job.ring_link == "grpc") {
    RINGSIDE_ASSIGN_OR_RETURN(factory->grpc_, GrpcRingListener::Open(bind));
  } else {
    RINGSIDE_ASSIGN_OR_RETURN(factory->ports_, DataPorts::Open(bind));
  }
  return factory;
}

void RingFactory::Announce(Member* member) const {
  if (grpc_ != nullptr) member->set_data_endpoint(ToString(grpc_->endpoint()));
  if (ports_ == nullptr) return;
  member->set_data_endpoint(ToString(ports_->address().tcp));
  member->set_local_endpoint(ports_->address().local);
}

absl::StatusOr<SynchronizerFactory::Product> RingFactory::Make(const Meeting& meeting) {
  const JobConfig& job = config_.job;
  const BucketPlan& plan = *meeting.plan;
  if (job.workers == 1) return MakeAlone(meeting);
  const Group group = Group::World(job.workers, config_.rank, meeting.membership->generation());
  // What neighbours read: the gradients, and the sums that pass through here.
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<Arena> sums,
                            Arena::Create(plan.total_elements(), GradientPlacement(config_)));
  RINGSIDE_ASSIGN_OR_RETURN(ReducerConfig config, ConfigOf(meeting, group));
  MadeReducer made;
  if (grpc_ != nullptr) {
    RINGSIDE_ASSIGN_OR_RETURN(made, MakeOverGrpc(meeting, config));
  } else {
    RINGSIDE_ASSIGN_OR_RETURN(
        made, MakeOverPorts(meeting, std::move(config), {meeting.gradients, sums.get()}));
  }
  made.facts["schedule"] = made.schedule;
  AllReduceSummer::Config summer{
      group, plan, std::move(made.reducer), std::move(sums), job.step_timeout, nullptr};
  summer.trace = meeting.trace;
  summer.expected_traffic = [expected = std::move(made.expected_traffic), lengths = plan.lengths()](
                                int64_t exchanges) { return expected(lengths) * exchanges; };
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<GradientSummer> made_summer,
                            AllReduceSummer::Create(std::move(summer)));
  return UpdateWith(std::move(made_summer), config_, meeting, std::move(made.facts));
}

absl::StatusOr<SynchronizerFactory::Product> RingFactory::MakeAlone(const Meeting& meeting) {
  LocalSummer::Config config{1, *meeting.plan};
  config.lent = true;
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<GradientSummer> summer,
                            LocalSummer::Create(std::move(config)));
  return UpdateWith(std::move(summer), config_, meeting,
                    {{"schedule", "ring"}, {"cpu_kernels", std::string(CpuKernels())}});
}

absl::StatusOr<ReducerConfig> RingFactory::ConfigOf(const Meeting& meeting,
                                                    const Group& group) const {
  const JobConfig& job = config_.job;
  ReducerConfig config;
  config.group = group;
  config.link = job.ring_link;
  config.schedule = job.schedule;
  RINGSIDE_ASSIGN_OR_RETURN(config.wire_dtype, ParseWireDtype(job.wire_dtype));
  config.segment_bytes = std::min(job.segment_bytes, job.frame_bytes);
  config.max_elements = LongestBucket(*meeting.plan);
  config.token = config_.token;
  config.plan_hash = meeting.plan->hash();
  config.congestion_control = job.congestion_control;
  config.step_timeout = job.step_timeout;
  config.connect_timeout = job.step_timeout;
  config.trace = meeting.trace;
  return config;
}

absl::StatusOr<MadeReducer> RingFactory::MakeOverPorts(const Meeting& meeting, ReducerConfig config,
                                                       std::vector<const Arena*> arenas) {
  for (int rank = 0; rank < config_.job.workers; ++rank) {
    const Member& member = meeting.membership->workers(rank);
    PeerAddress& peer = config.peers.emplace_back();
    RINGSIDE_ASSIGN_OR_RETURN(peer.tcp, DataEndpoint(member));
    peer.local = member.local_endpoint();
    peer.host = member.host();
  }
  config.arenas = std::move(arenas);
  RINGSIDE_ASSIGN_OR_RETURN(MadeReducer made, MakeReducer(std::move(ports_), std::move(config)));
  // The report compares it with the servers'.
  const auto control = made.facts.find("congestion_control");
  if (control != made.facts.end()) {
    made.facts["ring_congestion_control"] = control->second;
    made.facts.erase(control);
  }
  return made;
}

absl::StatusOr<MadeReducer> RingFactory::MakeOverGrpc(const Meeting& meeting,
                                                      const ReducerConfig& config) {
  GrpcRingLink::Config link;
  link.group = config.group;
  RINGSIDE_ASSIGN_OR_RETURN(link.right,
                            DataEndpoint(meeting.membership->workers(config.group.right())));
  link.token = config.token;
  link.plan_hash = config.plan_hash;
  link.connect_timeout = config.connect_timeout;
  RingParts parts;
  RINGSIDE_ASSIGN_OR_RETURN(parts.link, GrpcRingLink::Connect(std::move(grpc_), std::move(link)));
  RINGSIDE_ASSIGN_OR_RETURN(MadeReducer made, MakeRingOf(std::move(parts), config));
  made.facts["left_link"] = made.facts["right_link"] = "grpc";
  return made;
}

}  // namespace ringside
