#include "common/coordinator/session_reactor.h"

#include "common/network/grpc_status.h"

namespace ringside {

SessionReactor* SessionReactor::Start(Owner* owner) {
  std::shared_ptr<SessionReactor> reactor(new SessionReactor(owner));
  reactor->self_ = reactor;
  reactor->StartRead(&reactor->heartbeat_);
  return reactor.get();
}

void SessionReactor::OnReadDone(bool ok) {
  if (!ok) {
    if (session_ != 0) owner_->OnSessionEnd(session_);
    Close(absl::OkStatus());
    return;
  }
  const absl::Status accepted = owner_->OnHeartbeat(self_, heartbeat_, session_ == 0);
  if (!accepted.ok()) {
    // No further read: the member, if there is one, goes by the session that it had.
    if (session_ != 0) owner_->OnSessionEnd(session_);
    Close(accepted);
    return;
  }
  session_ = heartbeat_.caller().session();
  {
    MutexLock lock(&mutex_);
    ack_due_ = true;
  }
  Pump();
  StartRead(&heartbeat_);
}

void SessionReactor::OnWriteDone(bool /*ok*/) {
  {
    MutexLock lock(&mutex_);
    writing_ = false;
  }
  Pump();
}

void SessionReactor::OnDone() {
  // Usually the last reference: nothing may follow.
  std::shared_ptr<SessionReactor> last = std::move(self_);
}

void SessionReactor::Tell(const Verdict& verdict) {
  {
    MutexLock lock(&mutex_);
    verdict_due_ = verdict;
  }
  Pump();
}

void SessionReactor::Queue(const Replacement& replacement) {
  MutexLock lock(&mutex_);
  replacements_due_.push_back(replacement);
}

void SessionReactor::Close(const absl::Status& status) {
  {
    MutexLock lock(&mutex_);
    if (!end_due_.has_value()) end_due_ = ToGrpcStatus(status);
  }
  Pump();
}

void SessionReactor::Pump() {
  absl::optional<grpc::Status> end;
  {
    MutexLock lock(&mutex_);
    if (writing_ || ended_) return;
    const bool more = ack_due_ || !replacements_due_.empty();
    if (verdict_due_.has_value() || (more && !end_due_.has_value())) {
      outgoing_.Clear();
      if (verdict_due_.has_value()) *outgoing_.mutable_verdict() = *verdict_due_;
      verdict_due_.reset();
      if (!replacements_due_.empty()) {
        *outgoing_.mutable_replacement() = replacements_due_.front();
        replacements_due_.pop_front();
      }
      ack_due_ = false;
      writing_ = true;
    } else if (end_due_.has_value()) {
      end = *end_due_;
      ended_ = true;
    } else {
      return;
    }
  }
  // Outside the lock, as gRPC may run reactions at once. The stream lives until Finish, which
  // nobody else can reach before this write is done.
  if (end.has_value()) {
    Finish(*end);
  } else {
    StartWrite(&outgoing_);
  }
}

}  // namespace ringside
