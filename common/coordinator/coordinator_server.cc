#include "common/coordinator/coordinator_server.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/coordinator/job.h"
#include "common/coordinator/monotonic_clock.h"
#include "common/coordinator/parked_call.h"
#include "common/coordinator/session_reactor.h"
#include "common/coordinator/verdict.h"
#include "common/mutex.h"
#include "common/network/grpc_server.h"
#include "common/network/grpc_status.h"
#include "common/status_macros.h"
#include "coordinator.grpc.pb.h"

namespace ringside {
namespace {

// Time for the last answers to go out when the server ends; what hangs longer is cut off.
constexpr absl::Duration kShutdownGrace = absl::Seconds(1);
constexpr int kTicksPerLease = 20;
constexpr absl::Duration kShortestTick = absl::Milliseconds(5);
constexpr absl::Duration kLongestTick = absl::Milliseconds(100);
constexpr size_t kMaxRefusalsQueued = 100;

Contribution MakeContribution(MeetingKind kind, const std::string& name,
                              const google::protobuf::RepeatedPtrField<MemberId>& members) {
  Contribution contribution;
  contribution.kind = kind;
  contribution.name = name;
  contribution.members.assign(members.begin(), members.end());
  return contribution;
}

absl::Status ShuttingDown() { return absl::UnavailableError("the coordinator has ended"); }

MeetingAnswer FailedMeeting(absl::Status status) {
  MeetingAnswer answer;
  answer.status = std::move(status);
  return answer;
}

Rendezvous::Config RendezvousConfig(const CoordinatorServer::Config& config) {
  Rendezvous::Config rendezvous;
  rendezvous.token = config.token;
  rendezvous.world_size = config.world_size;
  rendezvous.num_shards = config.num_shards;
  rendezvous.lease = config.lease;
  rendezvous.join_timeout = config.join_timeout;
  return rendezvous;
}

class Server final : public CoordinatorServer,
                     private Coordinator::CallbackService,
                     private SessionReactor::Owner {
 public:
  explicit Server(Config config);
  ~Server() override;
  absl::Status Start();

  const Endpoint& endpoint() const override { return grpc_.endpoint; }
  std::vector<MemberState> Members() const override;
  absl::optional<Verdict> verdict() const override;
  void ReportExit(const MemberId& member, const std::string& how) override;
  bool AwaitEnd(absl::Duration timeout) override;

 private:
  using Context = grpc::CallbackServerContext;
  using JoinFinisher = std::function<void(const absl::StatusOr<Membership>&)>;
  using MeetingFinisher = std::function<void(const MeetingAnswer&)>;
  // What is to be done once the lock is released.
  using Deliveries = std::vector<std::function<void()>>;

  grpc::ServerUnaryReactor* Join(Context* context, const JoinRequest* request,
                                 Membership* response) override;
  grpc::ServerBidiReactor<Heartbeat, SessionEvent>* Session(Context* context) override;
  grpc::ServerUnaryReactor* Barrier(Context* context, const BarrierRequest* request,
                                    BarrierResponse* response) override;
  grpc::ServerUnaryReactor* Reduce(Context* context, const ReduceRequest* request,
                                   ReduceResponse* response) override;
  grpc::ServerUnaryReactor* Gather(Context* context, const GatherRequest* request,
                                   GatherResponse* response) override;
  grpc::ServerUnaryReactor* ReportFailure(Context* context, const FailureReport* request,
                                          FailureReportResponse* response) override;
  grpc::ServerUnaryReactor* Leave(Context* context, const LeaveRequest* request,
                                  LeaveResponse* response) override;

  absl::Status OnHeartbeat(const std::shared_ptr<SessionReactor>& reactor,
                           const Heartbeat& heartbeat, bool first) override;
  void OnSessionEnd(uint64_t session) override;

  // Gives the job an event, under the lock, and then does what it entails. Does nothing once the
  // server is being destroyed.
  void Drive(const std::function<void(Job::Effects*)>& event);
  void Collect(Job::Effects effects, Deliveries* deliveries) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Parks a meeting call until the job answers it. `fill` writes the response of a good answer.
  grpc::ServerUnaryReactor* Meet(const Caller& caller, int64_t timeout_ms,
                                 Contribution contribution, MeetingFinisher fill);
  void JoinCancelled(uint64_t session);
  void MeetingCancelled(uint64_t id);
  void TickUntilStopped();
  std::vector<std::string> DueAnnouncements(absl::Time now);

  // Constant after Start.
  const Config config_;
  GrpcServer grpc_;
  std::thread ticker_;

  mutable Mutex mutex_;
  CondVar changed_;
  CondVar stop_;
  Job job_ ABSL_GUARDED_BY(mutex_);
  std::map<uint64_t, JoinFinisher> joins_ ABSL_GUARDED_BY(mutex_);        // by session
  std::map<uint64_t, MeetingFinisher> meetings_ ABSL_GUARDED_BY(mutex_);  // by number of the call
  std::map<uint64_t, std::shared_ptr<SessionReactor>> sessions_ ABSL_GUARDED_BY(mutex_);
  std::mt19937_64 random_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_call_ ABSL_GUARDED_BY(mutex_) = 1;
  std::vector<std::string> refusals_ ABSL_GUARDED_BY(mutex_);  // not yet announced
  absl::Time next_announcement_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
};

Server::Server(Config config)
    : config_(std::move(config)),
      job_(RendezvousConfig(config_)),
      random_(std::random_device()()),
      next_announcement_(MonotonicNow() + config_.announce_interval) {}

absl::Status Server::Start() {
  RINGSIDE_ASSIGN_OR_RETURN(
      grpc_, StartGrpcServer(config_.bind, [this](grpc::ServerBuilder* builder) {
        builder->RegisterService(static_cast<Coordinator::CallbackService*>(this));
      }));
  ticker_ = std::thread([this] { TickUntilStopped(); });
  return absl::OkStatus();
}

Server::~Server() {
  std::map<uint64_t, JoinFinisher> joins;
  std::map<uint64_t, MeetingFinisher> meetings;
  std::map<uint64_t, std::shared_ptr<SessionReactor>> sessions;
  {
    MutexLock lock(&mutex_);
    stopping_ = true;
    joins.swap(joins_);
    meetings.swap(meetings_);
    sessions.swap(sessions_);
    stop_.NotifyAll();
  }
  for (const auto& [session, finish] : joins) finish(ShuttingDown());
  for (const auto& [id, finish] : meetings) finish(FailedMeeting(ShuttingDown()));
  for (const auto& [session, reactor] : sessions) reactor->Close(ShuttingDown());
  sessions.clear();
  if (ticker_.joinable()) ticker_.join();
  if (grpc_.server != nullptr) {
    grpc_.server->Shutdown(std::chrono::system_clock::now() +
                           absl::ToChronoMilliseconds(kShutdownGrace));
    grpc_.server = nullptr;  // returns when every reactor is done
  }
}

void Server::Drive(const std::function<void(Job::Effects*)>& event) {
  Deliveries deliveries;
  {
    MutexLock lock(&mutex_);
    if (stopping_) return;
    Job::Effects effects;
    event(&effects);
    Collect(std::move(effects), &deliveries);
    changed_.NotifyAll();
  }
  for (const auto& deliver : deliveries) deliver();
}

void Server::Collect(Job::Effects effects, Deliveries* deliveries) {
  for (Job::JoinAnswer& answer : effects.joins) {
    const auto join = joins_.find(answer.session);
    if (join == joins_.end()) continue;
    deliveries->push_back([finish = std::move(join->second),
                           membership = std::move(answer.membership)] { finish(membership); });
    joins_.erase(join);
  }
  for (MeetingAnswer& answer : effects.meetings) {
    const auto meeting = meetings_.find(answer.call);
    if (meeting == meetings_.end()) continue;
    deliveries->push_back(
        [finish = std::move(meeting->second), answer = std::move(answer)] { finish(answer); });
    meetings_.erase(meeting);
  }
  if (!effects.verdict_is_new) return;
  for (const auto& [session, reactor] : sessions_) {
    deliveries->push_back(
        [reactor = reactor, verdict = *job_.verdict()] { reactor->Tell(verdict); });
  }
}

grpc::ServerUnaryReactor* Server::Join(Context* /*context*/, const JoinRequest* request,
                                       Membership* response) {
  uint64_t session = 0;
  {
    MutexLock lock(&mutex_);
    while (session == 0) session = random_();
  }
  auto* call = new ParkedCall([this, session] { JoinCancelled(session); });
  const JoinFinisher finish = [call, response](const absl::StatusOr<Membership>& membership) {
    if (membership.ok()) *response = *membership;
    call->Finish(ToGrpcStatus(membership.status()));
  };
  absl::Status refused = ShuttingDown();
  Drive([&](Job::Effects* effects) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto admitted = job_.Join(*request, session, MonotonicNow(), effects);
    refused = admitted.status();
    if (admitted.ok()) {
      joins_[*admitted] = finish;
    } else if (refusals_.size() < kMaxRefusalsQueued) {
      refusals_.push_back(absl::StrCat("refused: ", refused.message()));
    }
  });
  if (!refused.ok()) finish(refused);
  return call;
}

void Server::JoinCancelled(uint64_t session) {
  JoinFinisher finish;
  Drive([&](Job::Effects* /*effects*/) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto join = joins_.find(session);
    if (join == joins_.end()) return;
    finish = std::move(join->second);
    joins_.erase(join);
    job_.JoinCancelled(session);
  });
  if (finish) finish(absl::CancelledError("the joiner went away"));
}

grpc::ServerUnaryReactor* Server::Meet(const Caller& caller, int64_t timeout_ms,
                                       Contribution contribution, MeetingFinisher fill) {
  uint64_t id = 0;
  {
    MutexLock lock(&mutex_);
    id = next_call_++;
  }
  auto* call = new ParkedCall([this, id] { MeetingCancelled(id); });
  const MeetingFinisher finish = [call, fill = std::move(fill)](const MeetingAnswer& answer) {
    if (answer.status.ok()) fill(answer);
    call->Finish(ToGrpcStatus(answer.status));
  };
  absl::Status refused = ShuttingDown();
  Drive([&](Job::Effects* effects) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto who = job_.Identify(caller);
    refused = who.status();
    if (!who.ok()) return;
    meetings_[id] = finish;
    job_.Arrive(id, *who, std::move(contribution), MonotonicNow(), absl::Milliseconds(timeout_ms),
                effects);
  });
  if (!refused.ok()) finish(FailedMeeting(refused));
  return call;
}

void Server::MeetingCancelled(uint64_t id) {
  MeetingFinisher finish;
  Drive([&](Job::Effects* /*effects*/) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto meeting = meetings_.find(id);
    if (meeting == meetings_.end()) return;
    finish = std::move(meeting->second);
    meetings_.erase(meeting);
    job_.CallCancelled(id);
  });
  if (finish) finish(FailedMeeting(absl::CancelledError("the caller went away")));
}

grpc::ServerUnaryReactor* Server::Barrier(Context* /*context*/, const BarrierRequest* request,
                                          BarrierResponse* /*response*/) {
  return Meet(request->caller(), request->timeout_ms(),
              MakeContribution(MeetingKind::kBarrier, request->name(), request->members()),
              [](const MeetingAnswer& /*answer*/) {});
}

grpc::ServerUnaryReactor* Server::Reduce(Context* /*context*/, const ReduceRequest* request,
                                         ReduceResponse* response) {
  Contribution own = MakeContribution(MeetingKind::kReduce, request->name(), request->members());
  own.integers.assign(request->integers().begin(), request->integers().end());
  own.doubles.assign(request->doubles().begin(), request->doubles().end());
  return Meet(request->caller(), request->timeout_ms(), std::move(own),
              [response](const MeetingAnswer& answer) {
                response->mutable_integers()->Add(answer.integers.begin(), answer.integers.end());
                response->mutable_doubles()->Add(answer.doubles.begin(), answer.doubles.end());
              });
}

grpc::ServerUnaryReactor* Server::Gather(Context* /*context*/, const GatherRequest* request,
                                         GatherResponse* response) {
  Contribution own =
      MakeContribution(request->for_all() ? MeetingKind::kGatherForAll : MeetingKind::kGather,
                       request->name(), request->members());
  own.blob = request->blob();
  return Meet(request->caller(), request->timeout_ms(), std::move(own),
              [response](const MeetingAnswer& answer) {
                for (const std::string& blob : answer.blobs) response->add_blobs(blob);
              });
}

grpc::ServerUnaryReactor* Server::ReportFailure(Context* context, const FailureReport* request,
                                                FailureReportResponse* /*response*/) {
  absl::Status status = ShuttingDown();
  Drive([&](Job::Effects* effects) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto who = job_.Identify(request->caller());
    status = who.status();
    if (who.ok()) job_.ReportFailure(*who, *request, MonotonicNow(), effects);
  });
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(ToGrpcStatus(status));
  return reactor;
}

grpc::ServerUnaryReactor* Server::Leave(Context* context, const LeaveRequest* request,
                                        LeaveResponse* /*response*/) {
  absl::Status status = ShuttingDown();
  Drive([&](Job::Effects* effects) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto who = job_.Identify(request->caller());
    status = who.status();
    if (who.ok()) job_.Leave(*who, effects);
  });
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(ToGrpcStatus(status));
  return reactor;
}

grpc::ServerBidiReactor<Heartbeat, SessionEvent>* Server::Session(Context* /*context*/) {
  return SessionReactor::Start(this);
}

absl::Status Server::OnHeartbeat(const std::shared_ptr<SessionReactor>& reactor,
                                 const Heartbeat& heartbeat, bool first) {
  absl::Status status = ShuttingDown();
  absl::optional<Verdict> missed;
  Drive([&](Job::Effects* /*effects*/) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto who = job_.Identify(heartbeat.caller());
    status = who.status();
    if (!who.ok()) return;
    if (first && !sessions_.emplace(heartbeat.caller().session(), reactor).second) {
      status = absl::AlreadyExistsError(absl::StrCat(ToString(*who), " has an open session"));
      return;
    }
    job_.Heartbeat(*who, heartbeat.progress(), MonotonicNow());
    if (first) missed = job_.verdict();
  });
  if (missed.has_value()) reactor->Tell(*missed);
  return status;
}

void Server::OnSessionEnd(uint64_t session) {
  Drive([&](Job::Effects* effects) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (sessions_.erase(session) == 0) return;
    const auto who = job_.IdentifySession(session);
    if (who.ok()) job_.SessionClosed(*who, effects);
  });
}

void Server::ReportExit(const MemberId& member, const std::string& how) {
  Drive([&](Job::Effects* effects)
            ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { job_.ReportExit(member, how, effects); });
}

bool Server::AwaitEnd(absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  MutexLock lock(&mutex_);
  while (!job_.Ended()) {
    if (!changed_.WaitUntil(&mutex_, deadline)) return job_.Ended();
  }
  return true;
}

std::vector<CoordinatorServer::MemberState> Server::Members() const {
  MutexLock lock(&mutex_);
  std::vector<MemberState> states;
  for (Job::MemberState& state : job_.Members()) {
    states.push_back({std::move(state.member), std::move(state.progress), state.left});
  }
  return states;
}

absl::optional<Verdict> Server::verdict() const {
  MutexLock lock(&mutex_);
  return job_.verdict();
}

void Server::TickUntilStopped() {
  const absl::Duration interval =
      std::min(kLongestTick, std::max(kShortestTick, config_.lease / kTicksPerLease));
  while (true) {
    {
      MutexLock lock(&mutex_);
      if (!stopping_) stop_.WaitUntil(&mutex_, absl::Now() + interval);
      if (stopping_) return;
    }
    const absl::Time now = MonotonicNow();
    Drive([&](Job::Effects* effects)
              ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { job_.Tick(now, effects); });
    for (const std::string& line : DueAnnouncements(now)) config_.announce(line);
  }
}

std::vector<std::string> Server::DueAnnouncements(absl::Time now) {
  MutexLock lock(&mutex_);
  std::vector<std::string> lines;
  lines.swap(refusals_);
  if (!config_.announce) return {};
  if (!job_.complete() && !job_.verdict().has_value() && now >= next_announcement_) {
    next_announcement_ = now + config_.announce_interval;
    lines.push_back(job_.RendezvousProgress());
  }
  return lines;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CoordinatorServer>> CoordinatorServer::Start(Config config) {
  if (config.lease <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--lease=", absl::FormatDuration(config.lease), ": must be positive"));
  }
  auto server = std::make_unique<Server>(std::move(config));
  RINGSIDE_RETURN_IF_ERROR(server->Start());
  return std::unique_ptr<CoordinatorServer>(std::move(server));
}

}  // namespace ringside
