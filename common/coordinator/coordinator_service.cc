#include "common/coordinator/coordinator_service.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/coordinator/meeting_messages.h"
#include "common/coordinator/monotonic_clock.h"
#include "common/coordinator/parked_call.h"
#include "common/network/grpc_status.h"
#include "common/suspects.h"

namespace ringside {
namespace {

MeetingAnswer FailedMeeting(absl::Status status) {
  MeetingAnswer answer;
  answer.status = std::move(status);
  return answer;
}

}  // namespace

grpc::ServerUnaryReactor* CoordinatorService::Join(Context* /*context*/, const JoinRequest* request,
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
  absl::Status refused = CoordinatorEnded();
  Drive([&](Job::Effects* effects) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto admitted = job_.Join(*request, session, MonotonicNow(), effects);
    refused = admitted.status();
    if (admitted.ok()) {
      joins_[*admitted] = finish;
    } else {
      Remark(absl::StrCat("refused: ", refused.message()));
    }
  });
  if (!refused.ok()) finish(refused);
  return call;
}

void CoordinatorService::JoinCancelled(uint64_t session) {
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

grpc::ServerUnaryReactor* CoordinatorService::Meet(const Caller& caller, int64_t timeout_ms,
                                                   Contribution contribution,
                                                   MeetingFinisher fill) {
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
  absl::Status refused = CoordinatorEnded();
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

void CoordinatorService::MeetingCancelled(uint64_t id) {
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

grpc::ServerUnaryReactor* CoordinatorService::Barrier(Context* /*context*/,
                                                      const BarrierRequest* request,
                                                      BarrierResponse* /*response*/) {
  return Meet(request->caller(), request->timeout_ms(), ContributionOf(*request),
              [](const MeetingAnswer& /*answer*/) {});
}

grpc::ServerUnaryReactor* CoordinatorService::Reduce(Context* /*context*/,
                                                     const ReduceRequest* request,
                                                     ReduceResponse* response) {
  return Meet(request->caller(), request->timeout_ms(), ContributionOf(*request),
              [response](const MeetingAnswer& answer) { Fill(answer, response); });
}

grpc::ServerUnaryReactor* CoordinatorService::Gather(Context* /*context*/,
                                                     const GatherRequest* request,
                                                     GatherResponse* response) {
  return Meet(request->caller(), request->timeout_ms(), ContributionOf(*request),
              [response](const MeetingAnswer& answer) { Fill(answer, response); });
}

grpc::ServerUnaryReactor* CoordinatorService::ReportFailure(Context* context,
                                                            const FailureReport* request,
                                                            FailureReportResponse* /*response*/) {
  absl::Status status = CoordinatorEnded();
  Drive([&](Job::Effects* effects) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto who = job_.Identify(request->caller());
    status = who.status();
    if (who.ok()) job_.ReportFailure(*who, *request, MonotonicNow(), effects);
  });
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(ToGrpcStatus(status));
  return reactor;
}

grpc::ServerUnaryReactor* CoordinatorService::Clock(Context* context, const ClockRequest* request,
                                                    ClockResponse* response) {
  absl::Status status = CoordinatorEnded();
  Drive([&](Job::Effects* /*effects*/) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    status = job_.Identify(request->caller()).status();
  });
  response->set_boot_id(boot_id_);
  response->set_now_ns(absl::ToUnixNanos(MonotonicNow()));
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(ToGrpcStatus(status));
  return reactor;
}

grpc::ServerUnaryReactor* CoordinatorService::Leave(Context* context, const LeaveRequest* request,
                                                    LeaveResponse* /*response*/) {
  absl::Status status = CoordinatorEnded();
  Drive([&](Job::Effects* effects) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto who = job_.Identify(request->caller());
    status = who.status();
    if (who.ok()) job_.Leave(*who, MonotonicNow(), effects);
  });
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(ToGrpcStatus(status));
  return reactor;
}

grpc::ServerBidiReactor<Heartbeat, SessionEvent>* CoordinatorService::Session(
    Context* /*context*/) {
  return SessionReactor::Start(this);
}

absl::Status CoordinatorService::OnHeartbeat(const std::shared_ptr<SessionReactor>& reactor,
                                             const Heartbeat& heartbeat, bool first) {
  absl::Status status = CoordinatorEnded();
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
    if (!first) return;
    missed = job_.verdict();
    for (const Replacement& replacement :
         job_.ReplacementsSinceJoin(heartbeat.caller().session())) {
      reactor->Queue(replacement);
    }
  });
  if (missed.has_value()) reactor->Tell(*missed);
  return status;
}

void CoordinatorService::OnSessionEnd(uint64_t session) {
  Drive([&](Job::Effects* effects) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (sessions_.erase(session) == 0) return;
    const auto who = job_.IdentifySession(session);
    if (who.ok()) job_.SessionClosed(*who, MonotonicNow(), effects);
  });
}

}  // namespace ringside
