#include "worker/ring_factory.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "allreduce/ring_all_reducer.h"
#include "allreduce/ring_traffic.h"
#include "common/reduction.h"
#include "common/status_macros.h"
#include "worker/synchronizers/all_reduce_summer.h"

namespace ringside {
namespace {

std::vector<int64_t> BucketLengths(const BucketPlan& plan) {
  std::vector<int64_t> lengths;
  for (int bucket = 0; bucket < plan.size(); ++bucket) {
    lengths.push_back(plan.bucket(bucket).length);
  }
  return lengths;
}

int64_t LongestBucket(const BucketPlan& plan) {
  const std::vector<int64_t> lengths = BucketLengths(plan);
  return *std::max_element(lengths.begin(), lengths.end());
}

int64_t SegmentBytes(const JobConfig& job) { return std::min(job.segment_bytes, job.frame_bytes); }

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
  const Group group = Group::World(job.workers, config_.rank, meeting.membership->generation());
  // What neighbours read: the gradients, and the sums that pass through here.
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<Arena> sums,
                            Arena::Create(plan.total_elements(), GradientPlacement(config_)));
  MadeReducer made;
  if (grpc_ != nullptr) {
    RINGSIDE_ASSIGN_OR_RETURN(made, MakeOverGrpc(meeting, group));
  } else {
    RINGSIDE_ASSIGN_OR_RETURN(made, MakeOverPorts(meeting, group, {meeting.gradients, sums.get()}));
  }
  made.facts["schedule"] = made.schedule;
  AllReduceSummer::Config summer{
      group, plan, std::move(made.reducer), std::move(sums), job.step_timeout, nullptr};
  summer.expected_traffic = [expected = std::move(made.expected_traffic),
                             lengths = BucketLengths(plan)](int64_t exchanges) {
    return expected(lengths) * exchanges;
  };
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<GradientSummer> made_summer,
                            AllReduceSummer::Create(std::move(summer)));
  return UpdateWith(std::move(made_summer), config_, plan, std::move(made.facts));
}

absl::StatusOr<MadeReducer> RingFactory::MakeOverPorts(const Meeting& meeting, const Group& group,
                                                       std::vector<const Arena*> arenas) {
  const JobConfig& job = config_.job;
  ReducerConfig config;
  config.group = group;
  for (int rank = 0; ports_ != nullptr && rank < job.workers; ++rank) {
    const Member& member = meeting.membership->workers(rank);
    PeerAddress& peer = config.peers.emplace_back();
    RINGSIDE_ASSIGN_OR_RETURN(peer.tcp, DataEndpoint(member));
    peer.local = member.local_endpoint();
    peer.host = member.host();
  }
  config.link = job.ring_link == "grpc" ? "auto" : job.ring_link;  // a ring of one has no links
  config.schedule = job.schedule;
  RINGSIDE_ASSIGN_OR_RETURN(config.wire_dtype, ParseWireDtype(job.wire_dtype));
  config.segment_bytes = SegmentBytes(job);
  config.max_elements = LongestBucket(*meeting.plan);
  config.arenas = std::move(arenas);
  config.token = config_.token;
  config.plan_hash = meeting.plan->hash();
  config.congestion_control = job.congestion_control;
  config.step_timeout = job.step_timeout;
  config.connect_timeout = job.step_timeout;
  RINGSIDE_ASSIGN_OR_RETURN(MadeReducer made, MakeReducer(std::move(ports_), std::move(config)));
  // The report compares it with the servers'.
  const auto control = made.facts.find("congestion_control");
  if (control != made.facts.end()) {
    made.facts["ring_congestion_control"] = control->second;
    made.facts.erase(control);
  }
  return made;
}

absl::StatusOr<MadeReducer> RingFactory::MakeOverGrpc(const Meeting& meeting, const Group& group) {
  const JobConfig& job = config_.job;
  GrpcRingLink::Config link;
  link.group = group;
  RINGSIDE_ASSIGN_OR_RETURN(link.right, DataEndpoint(meeting.membership->workers(group.right())));
  link.token = config_.token;
  link.plan_hash = meeting.plan->hash();
  link.connect_timeout = job.step_timeout;
  RingAllReducer::Config config;
  RINGSIDE_ASSIGN_OR_RETURN(config.link, GrpcRingLink::Connect(std::move(grpc_), std::move(link)));
  config.group = group;
  config.segment_bytes = SegmentBytes(job);
  config.step_timeout = job.step_timeout;
  RINGSIDE_ASSIGN_OR_RETURN(config.wire_dtype, ParseWireDtype(job.wire_dtype));
  if (config.wire_dtype != WireDtype::kFloat32) {
    RINGSIDE_ASSIGN_OR_RETURN(config.wire, Arena::Create((LongestBucket(*meeting.plan) + 1) / 2,
                                                         Arena::Placement::kHeap));
  }
  MadeReducer made;
  made.schedule = "ring";
  made.facts["left_link"] = made.facts["right_link"] = "grpc";
  made.facts["cpu_kernels"] = std::string(CpuKernels());
  made.expected_traffic = [group, dtype = config.wire_dtype,
                           segment_elements =
                               config.segment_bytes / 4](absl::Span<const int64_t> elements) {
    return RingTraffic(elements, group.size(), group.index, segment_elements, dtype);
  };
  RINGSIDE_ASSIGN_OR_RETURN(made.reducer, RingAllReducer::Create(std::move(config)));
  return made;
}

}  // namespace ringside
