#include "common/coordinator/member_session.h"

#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "common/coordinator/failure_arbiter.h"
#include "common/coordinator/monotonic_clock.h"
#include "common/coordinator/verdict.h"
#include "common/suspects.h"

namespace ringside {
namespace {

// The coordinator is lost by the same rule as a member: silent for this part of the lease.
constexpr double kCoordinatorLostAfter = FailureArbiter::kLostAfter;
// A heartbeat that comes late by this part of the lease: this process itself stood still.
constexpr double kStandstill = 0.2;

constexpr uint32_t kNoRecovery = std::numeric_limits<uint32_t>::max();

std::string OneLine(absl::string_view text) { return absl::StrReplaceAll(text, {{"\n", " "}}); }

}  // namespace

MemberSession::MemberSession(Endpoint coordinator, MemberId self, const Membership& membership,
                             Coordinator::Stub* stub)
    : coordinator_(std::move(coordinator)),
      self_(std::move(self)),
      lease_(absl::Milliseconds(membership.lease_ms())),
      replacements_(membership),
      acknowledged_(MonotonicNow()),
      last_beat_(MonotonicNow()),
      recovery_(membership.recovery()) {
  caller_.set_session(membership.session());
  caller_.set_generation(membership.generation());
  stream_ = stub->Session(&context_);
  reader_ = std::thread([this] { ReadEvents(); });
  writer_ = std::thread([this] { SendHeartbeats(); });
}

MemberSession::~MemberSession() {
  {
    MutexLock lock(&mutex_);
    stopping_ = true;
    leaving_ = true;
    changed_.NotifyAll();
  }
  context_.TryCancel();
  writer_.join();
  reader_.join();
}

absl::Status MemberSession::AwaitOpen() {
  const absl::Time deadline = absl::Now() + lease_;  // a mute coordinator is found lost before
  MutexLock lock(&mutex_);
  while (!open_ && ruling_.verdict.ok() && changed_.WaitUntil(&mutex_, deadline)) {
  }
  return ruling_.verdict;
}

void MemberSession::ReportProgress(const Progress& progress) {
  MutexLock lock(&mutex_);
  progress_ = progress;
}

void MemberSession::SetVerdictHandler(std::function<void(const absl::Status&)> handler) {
  absl::Status verdict;
  {
    MutexLock lock(&mutex_);
    while (handler_runs_) changed_.Wait(&mutex_);
    verdict = ruling_.verdict;
    handler_ = verdict.ok() ? handler : nullptr;
  }
  if (!verdict.ok() && handler) handler(verdict);
}

absl::Status MemberSession::BeginCall(grpc::ClientContext* call) {
  MutexLock lock(&mutex_);
  if (!ruling_.verdict.ok()) return ruling_.verdict;
  if (leaving_) return absl::FailedPreconditionError(absl::StrCat(ToString(self_), " has left"));
  calls_.insert(call);
  return absl::OkStatus();
}

absl::Status MemberSession::EndCall(grpc::ClientContext* call) {
  MutexLock lock(&mutex_);
  calls_.erase(call);
  return ruling_.verdict;
}

MemberSession::Ruling MemberSession::ruling() {
  MutexLock lock(&mutex_);
  return ruling_;
}

MemberSession::Ruling MemberSession::Await(absl::Time deadline, uint32_t recovery) {
  MutexLock lock(&mutex_);
  while (ruling_.verdict.ok() && !stopping_ && recovery_ <= recovery &&
         changed_.WaitUntil(&mutex_, deadline)) {
  }
  return ruling_;
}

MemberSession::Ruling MemberSession::AwaitVerdict(absl::Time deadline) {
  return Await(deadline, kNoRecovery);
}

absl::Status MemberSession::StartLeaving() {
  MutexLock lock(&mutex_);
  if (leaving_) return absl::FailedPreconditionError(absl::StrCat(ToString(self_), " has left"));
  leaving_ = true;
  return absl::OkStatus();
}

bool MemberSession::leaving() {
  MutexLock lock(&mutex_);
  return leaving_;
}

absl::Status MemberSession::Stop() {
  MutexLock lock(&mutex_);
  stopping_ = true;
  changed_.NotifyAll();
  return ruling_.verdict;
}

void MemberSession::SendHeartbeats() {
  Heartbeat heartbeat;
  *heartbeat.mutable_caller() = caller_;
  // The first one goes out at once: it opens the session.
  bool first = true;
  while (AwaitNextBeat(first, &heartbeat) && stream_->Write(heartbeat)) first = false;
  // A broken stream is the reader's to report.
  stream_->WritesDone();
}

bool MemberSession::AwaitNextBeat(bool first, Heartbeat* heartbeat) {
  const absl::Duration interval = FailureArbiter::kHeartbeatInterval * lease_;
  absl::Duration silence;
  {
    MutexLock lock(&mutex_);
    const absl::Time next = absl::Now() + interval;
    while (!first && !stopping_ && changed_.WaitUntil(&mutex_, next)) {
    }
    if (stopping_) return false;
    const absl::Time now = MonotonicNow();
    // After a standstill of our own, acknowledgements may lie unread.
    if (now - last_beat_ > interval + kStandstill * lease_) acknowledged_ = now;
    last_beat_ = now;
    silence = now - acknowledged_;
    *heartbeat->mutable_progress() = progress_;
  }
  if (silence > kCoordinatorLostAfter * lease_) {
    CoordinatorLost(absl::StrFormat("no answer for %.1f s", absl::ToDoubleSeconds(silence)));
    context_.TryCancel();
    return false;
  }
  return true;
}

void MemberSession::ReadEvents() {
  SessionEvent event;
  while (stream_->Read(&event)) {
    if (event.has_replacement()) HandleReplacement(event.replacement());
    if (event.has_verdict()) Decide(ToStatus(event.verdict()), event.verdict().culprit());
    Acknowledged();
  }
  const grpc::Status end = stream_->Finish();
  CoordinatorLost(end.ok() ? "it closed the session" : OneLine(end.error_message()));
}

void MemberSession::HandleReplacement(const Replacement& replacement) {
  // Whoever is woken finds the feed's membership up to date.
  replacements_.Add(replacement);
  MutexLock lock(&mutex_);
  recovery_ = replacement.recovery();
  changed_.NotifyAll();
}

void MemberSession::Acknowledged() {
  MutexLock lock(&mutex_);
  acknowledged_ = MonotonicNow();
  if (!open_) changed_.NotifyAll();
  open_ = true;
}

void MemberSession::CoordinatorLost(absl::string_view why) {
  {
    MutexLock lock(&mutex_);
    if (leaving_) return;
  }
  Decide(absl::AbortedError(
             absl::StrCat("the coordinator at ", ToString(coordinator_), " was lost: ", why)),
         MemberId());
}

void MemberSession::Decide(const absl::Status& status, const MemberId& culprit) {
  std::function<void(const absl::Status&)> handler;
  {
    MutexLock lock(&mutex_);
    if (!ruling_.verdict.ok()) return;
    ruling_ = {status, culprit};
    for (grpc::ClientContext* call : calls_) call->TryCancel();
    handler.swap(handler_);
    handler_runs_ = handler != nullptr;
    changed_.NotifyAll();
  }
  if (!handler) return;
  handler(status);
  MutexLock lock(&mutex_);
  handler_runs_ = false;
  changed_.NotifyAll();
}

}  // namespace ringside
