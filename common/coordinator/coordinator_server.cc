#include "common/coordinator/coordinator_server.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/coordinator/coordinator_service.h"
#include "common/coordinator/monotonic_clock.h"
#include "common/network/host_identity.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

// Time for the last answers to go out when the server ends; what hangs longer is cut off.
constexpr absl::Duration kShutdownGrace = absl::Seconds(1);
constexpr int kTicksPerLease = 20;
constexpr absl::Duration kShortestTick = absl::Milliseconds(5);
constexpr absl::Duration kLongestTick = absl::Milliseconds(100);
constexpr size_t kMaxRemarksQueued = 100;

Rendezvous::Config RendezvousConfig(const CoordinatorServer::Config& config) {
  Rendezvous::Config rendezvous;
  rendezvous.token = config.token;
  rendezvous.world_size = config.world_size;
  rendezvous.num_shards = config.num_shards;
  rendezvous.lease = config.lease;
  rendezvous.join_timeout = config.join_timeout;
  return rendezvous;
}

ShardReplacements::Config Tolerated(const CoordinatorServer::Config& config) {
  const bool own = config.restart_timeout > absl::ZeroDuration();
  return {config.restart_shards, own ? config.restart_timeout : config.join_timeout};
}

}  // namespace

CoordinatorService::CoordinatorService(Config config)
    : config_(std::move(config)),
      boot_id_(ReadHostIdentity().boot_id()),
      job_(RendezvousConfig(config_), Tolerated(config_)),
      random_(std::random_device()()),
      next_announcement_(MonotonicNow() + config_.announce_interval) {}

absl::Status CoordinatorService::Start() {
  RINGSIDE_ASSIGN_OR_RETURN(
      grpc_, StartGrpcServer(config_.bind, [this](grpc::ServerBuilder* builder) {
        builder->RegisterService(static_cast<Coordinator::CallbackService*>(this));
      }));
  ticker_ = std::thread([this] { TickUntilStopped(); });
  return absl::OkStatus();
}

CoordinatorService::~CoordinatorService() {
  std::map<uint64_t, JoinFinisher> joins;
  std::map<uint64_t, MeetingFinisher> meetings;
  std::map<uint64_t, std::shared_ptr<SessionReactor>> sessions;
  {
    MutexLock lock(&mutex_);
    stopping_ = true;
    joins.swap(joins_);
    meetings.swap(meetings_);
    sessions.swap(sessions_);
    ticker_due_.NotifyAll();
  }
  for (const auto& [session, finish] : joins) finish(CoordinatorEnded());
  MeetingAnswer ended;
  ended.status = CoordinatorEnded();
  for (const auto& [id, finish] : meetings) finish(ended);
  for (const auto& [session, reactor] : sessions) reactor->Close(CoordinatorEnded());
  sessions.clear();
  if (ticker_.joinable()) ticker_.join();
  if (grpc_.server != nullptr) {
    grpc_.server->Shutdown(std::chrono::system_clock::now() +
                           absl::ToChronoMilliseconds(kShutdownGrace));
    grpc_.server = nullptr;  // returns when every reactor is done
  }
}

void CoordinatorService::Drive(const std::function<void(Job::Effects*)>& event) {
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

void CoordinatorService::Collect(Job::Effects effects, Deliveries* deliveries) {
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
  CollectEvents(effects, deliveries);
  for (std::string& line : effects.remarks) Remark(std::move(line));
}

void CoordinatorService::CollectEvents(const Job::Effects& effects, Deliveries* deliveries) {
  for (const Job::Dismissal& dismissal : effects.dismissals) {
    const auto session = sessions_.find(dismissal.session);
    if (session == sessions_.end()) continue;
    deliveries->push_back([reactor = session->second, verdict = dismissal.verdict] {
      reactor->Tell(verdict);
      reactor->Close(absl::OkStatus());
    });
    sessions_.erase(session);
  }
  if (effects.replacements.empty() && !effects.verdict_is_new) return;
  for (const auto& [session, reactor] : sessions_) {
    for (const Replacement& replacement : effects.replacements) reactor->Queue(replacement);
    deliveries->push_back([reactor = reactor] { reactor->Flush(); });
    if (!effects.verdict_is_new) continue;
    deliveries->push_back(
        [reactor = reactor, verdict = *job_.verdict()] { reactor->Tell(verdict); });
  }
}

void CoordinatorService::Remark(std::string line) {
  if (remarks_.size() >= kMaxRemarksQueued) return;
  remarks_.push_back(std::move(line));
  ticker_due_.NotifyAll();
}

void CoordinatorService::ReportExit(const MemberId& member, const std::string& how) {
  Drive([&](Job::Effects* effects) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    job_.ReportExit(member, how, MonotonicNow(), effects);
  });
}

void CoordinatorService::ReportRestart(const MemberId& member, const std::string& how) {
  Drive([&](Job::Effects* effects) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    job_.ReportRestart(member, how, MonotonicNow(), effects);
  });
}

bool CoordinatorService::AwaitEnd(absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  MutexLock lock(&mutex_);
  // Whoever learns of the end may say so: what was remarked before is to be said before.
  const auto ended = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return job_.Ended() && remarks_.empty() && !announcing_;
  };
  while (!ended()) {
    if (!changed_.WaitUntil(&mutex_, deadline)) return ended();
  }
  return true;
}

std::vector<CoordinatorServer::MemberState> CoordinatorService::Members() const {
  MutexLock lock(&mutex_);
  std::vector<MemberState> states;
  for (Job::MemberState& state : job_.Members()) {
    states.push_back(
        {std::move(state.member), std::move(state.progress), state.left, state.awaits_replacement});
  }
  return states;
}

absl::optional<Verdict> CoordinatorService::verdict() const {
  MutexLock lock(&mutex_);
  return job_.verdict();
}

void CoordinatorService::TickUntilStopped() {
  const absl::Duration interval =
      std::min(kLongestTick, std::max(kShortestTick, config_.lease / kTicksPerLease));
  bool stopping = false;
  while (!stopping) {
    {
      MutexLock lock(&mutex_);
      if (!stopping_ && remarks_.empty()) ticker_due_.WaitUntil(&mutex_, absl::Now() + interval);
      stopping = stopping_;
    }
    const absl::Time now = MonotonicNow();
    Drive([&](Job::Effects* effects)
              ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { job_.Tick(now, effects); });
    Announce(now);
  }
}

void CoordinatorService::Announce(absl::Time now) {
  std::vector<std::string> lines;
  {
    MutexLock lock(&mutex_);
    lines = TakeAnnouncements(now);
    announcing_ = !lines.empty();
  }
  if (config_.announce) {
    for (const std::string& line : lines) config_.announce(line);
  }
  MutexLock lock(&mutex_);
  announcing_ = false;
  changed_.NotifyAll();
}

std::vector<std::string> CoordinatorService::TakeAnnouncements(absl::Time now) {
  std::vector<std::string> lines;
  lines.swap(remarks_);
  if (stopping_) return lines;
  if (!job_.complete() && !job_.verdict().has_value() && now >= next_announcement_) {
    next_announcement_ = now + config_.announce_interval;
    lines.push_back(job_.RendezvousProgress());
  }
  return lines;
}

absl::StatusOr<std::unique_ptr<CoordinatorServer>> CoordinatorServer::Start(Config config) {
  if (config.lease <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--lease=", absl::FormatDuration(config.lease), ": must be positive"));
  }
  if (config.restart_shards < 0 || config.restart_timeout < absl::ZeroDuration()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--restart_shards=", config.restart_shards, " within ",
                     absl::FormatDuration(config.restart_timeout), ": neither may be negative"));
  }
  auto server = std::make_unique<CoordinatorService>(std::move(config));
  RINGSIDE_RETURN_IF_ERROR(server->Start());
  return std::unique_ptr<CoordinatorServer>(std::move(server));
}

}  // namespace ringside
