#include "allreduce/ring_handshake.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/network/poll.h"
#include "common/status_macros.h"
#include "common/suspects.h"

namespace ringside {
namespace {

// How long a refused rank stays to tell its left neighbour what is wrong, who would else see a
// reset connection.
constexpr absl::Duration kFarewell = absl::Milliseconds(500);
constexpr size_t kMaxCallers = 64;  // that are heard at a time; the oldest gives way

std::string CallerText(const Socket& socket) {
  return absl::StrCat("a caller from ", PeerText(socket));
}

absl::Status WithPrefix(const absl::Status& status, absl::string_view prefix) {
  return absl::Status(status.code(), absl::StrCat(prefix, status.message()));
}

}  // namespace

RingHandshake::RingHandshake(const Config* config, ListeningSocket* listener)
    : config_(*config), listener_(*listener), deadline_(absl::Now() + config->connect_timeout) {}

absl::StatusOr<RingHandshake::Neighbours> RingHandshake::Run() {
  // Before anybody is called: what is wrong on all ranks should be seen on all, not as a lost
  // neighbour.
  if (!config_.congestion_control.empty()) {
    RINGSIDE_RETURN_IF_ERROR(CheckCongestionControl(config_.congestion_control));
  }
  RINGSIDE_RETURN_IF_ERROR(CallRight());
  while (left_ == nullptr || !welcomed_) {
    if (absl::Now() >= deadline_) return TimeoutError();
    RINGSIDE_RETURN_IF_ERROR(WaitForSomething(deadline_));
    if (!welcomed_) {
      const absl::Status answer = ReadAnswer();
      if (!answer.ok()) {
        AnswerBeforeLeaving();
        return answer;
      }
    }
    RINGSIDE_RETURN_IF_ERROR(HearCallers());
  }
  return Neighbours{std::move(left_), std::move(right_)};
}

void RingHandshake::AnswerBeforeLeaving() {
  const absl::Time until = std::min(deadline_, absl::Now() + kFarewell);
  welcomed_ = true;  // no more is expected from the right
  while (!answered_any_ && absl::Now() < until) {
    if (!WaitForSomething(until).ok() || !HearCallers().ok()) return;
  }
}

absl::Status RingHandshake::HearCallers() {
  if (left_ != nullptr) return absl::OkStatus();
  RINGSIDE_RETURN_IF_ERROR(AcceptCallers());
  for (Caller& caller : callers_) {
    if (left_ == nullptr) RINGSIDE_RETURN_IF_ERROR(Hear(&caller));
  }
  callers_.remove_if([](const Caller& caller) { return caller.done; });
  return absl::OkStatus();
}

absl::Status RingHandshake::CallRight() {
  const int right = config_.group.right();
  const std::string name = absl::StrCat("worker ", right, ": ");
  absl::StatusOr<std::unique_ptr<Socket>> socket = Socket::Connect(config_.right, deadline_);
  if (!socket.ok()) return WithSuspects(WithPrefix(socket.status(), name), {WorkerId(right)});
  right_ = *std::move(socket);
  if (!config_.congestion_control.empty()) {
    RINGSIDE_RETURN_IF_ERROR(right_->SetCongestionControl(config_.congestion_control));
  }
  const absl::Status sent = WriteFully(right_.get(), Encode(OwnHello(right)), deadline_);
  if (!sent.ok()) return WithSuspects(WithPrefix(sent, name), {WorkerId(right)});
  return absl::OkStatus();
}

absl::Status RingHandshake::ReadAnswer() {
  const std::string name =
      absl::StrCat("worker ", config_.group.right(), " at ", ToString(config_.right));
  const absl::StatusOr<ByteStream::Transfer> transfer =
      right_->TryRead(absl::MakeSpan(answer_).subspan(answer_received_));
  if (!transfer.ok()) {
    return WithSuspects(WithPrefix(transfer.status(), absl::StrCat("handshake with ", name, ": ")),
                        {WorkerId(config_.group.right())});
  }
  answer_received_ += transfer->bytes;
  if (answer_received_ < answer_.size()) return absl::OkStatus();
  const absl::StatusOr<RingHello> answer = DecodeRingHello(answer_);
  if (!answer.ok()) return WithPrefix(answer.status(), absl::StrCat(name, " answers: "));
  const RingHello own = OwnHello(config_.group.right());
  RINGSIDE_RETURN_IF_ERROR(RefusalStatus(answer->verdict, own, *answer, name));
  RINGSIDE_RETURN_IF_ERROR(RefusalStatus(Judge(own, *answer), own, *answer, name));
  welcomed_ = true;
  return absl::OkStatus();
}

absl::Status RingHandshake::AcceptCallers() {
  for (;;) {
    absl::StatusOr<std::unique_ptr<Socket>> socket = listener_.Accept(absl::InfinitePast());
    if (absl::IsDeadlineExceeded(socket.status())) return absl::OkStatus();
    RINGSIDE_RETURN_IF_ERROR(socket.status());
    if (callers_.size() == kMaxCallers) {
      Refuse(&callers_.front(), "there are too many callers");
      callers_.pop_front();
    }
    Caller& caller = callers_.emplace_back();
    caller.socket = *std::move(socket);
    caller.deadline = absl::Now() + config_.hello_timeout;
  }
}

absl::Status RingHandshake::Hear(Caller* caller) {
  const absl::StatusOr<ByteStream::Transfer> transfer =
      caller->socket->TryRead(absl::MakeSpan(caller->hello).subspan(caller->received));
  if (!transfer.ok()) {
    Refuse(caller, transfer.status().message());
    return absl::OkStatus();
  }
  caller->received += transfer->bytes;
  if (caller->received < caller->hello.size()) {
    if (absl::Now() >= caller->deadline) Refuse(caller, "no hello in time");
    return absl::OkStatus();
  }
  const absl::StatusOr<RingHello> call = DecodeRingHello(caller->hello);
  if (!call.ok()) {
    Refuse(caller, call.status().message());
    return absl::OkStatus();
  }
  RingHello answer = OwnHello(config_.group.left());
  answer.verdict = Judge(answer, *call);
  // A new connection takes 88 bytes at once; if not, the caller is gone.
  const absl::Status answered =
      WriteFully(caller->socket.get(), Encode(answer), absl::InfinitePast());
  if (answer.verdict == RingHello::Verdict::kWelcome && answered.ok()) {
    if (!config_.congestion_control.empty()) {
      RINGSIDE_RETURN_IF_ERROR(caller->socket->SetCongestionControl(config_.congestion_control));
    }
    left_ = std::move(caller->socket);
    caller->done = true;
    return absl::OkStatus();
  }
  answered_any_ = true;
  const bool stranger = answer.verdict == RingHello::Verdict::kWrongToken;
  const std::string name =
      stranger ? CallerText(*caller->socket)
               : absl::StrCat("worker ", call->sender, " at ", PeerText(*caller->socket));
  const absl::Status refusal =
      answered.ok() ? RefusalStatus(answer.verdict, answer, *call, name) : answered;
  // All but the plan is right: this is the left neighbour, and no other will come.
  if (answer.verdict == RingHello::Verdict::kWrongPlan) return refusal;
  Refuse(caller, refusal.message());
  return absl::OkStatus();
}

absl::Status RingHandshake::WaitForSomething(absl::Time until) {
  std::vector<pollfd> entries;
  if (!welcomed_) entries.push_back({right_->fd(), POLLIN, 0});
  if (left_ == nullptr) {
    entries.push_back({listener_.fd(), POLLIN, 0});
    for (const Caller& caller : callers_) {
      entries.push_back({caller.socket->fd(), POLLIN, 0});
      until = std::min(until, caller.deadline);
    }
  }
  return PollUntil(absl::MakeSpan(entries), until).status();
}

void RingHandshake::Refuse(Caller* caller, absl::string_view why) {
  last_refusal_ = absl::StrCat(CallerText(*caller->socket), ": ", why);
  caller->done = true;
}

absl::Status RingHandshake::TimeoutError() const {
  const Group& group = config_.group;
  std::vector<MemberId> suspects;
  std::string what;
  if (left_ == nullptr) {
    absl::StrAppend(&what, "worker ", group.left(), " has not connected");
    suspects.push_back(WorkerId(group.left()));
  }
  if (!welcomed_) {
    absl::StrAppend(&what, what.empty() ? "" : " and ", "worker ", group.right(), " at ",
                    ToString(config_.right), " has not answered");
    if (group.right() != group.left() || suspects.empty())
      suspects.push_back(WorkerId(group.right()));
  }
  absl::StrAppend(&what, " within ", absl::FormatDuration(config_.connect_timeout));
  if (!last_refusal_.empty()) absl::StrAppend(&what, " (last refused: ", last_refusal_, ")");
  return WithSuspects(absl::DeadlineExceededError(what), suspects);
}

RingHello RingHandshake::OwnHello(int receiver) const {
  RingHello hello;
  hello.group = config_.group.id;
  hello.generation = config_.group.generation;
  hello.sender = config_.group.rank();
  hello.receiver = receiver;
  hello.token_sha256 = Sha256Of(config_.token);
  hello.plan_sha256 = Sha256Of(config_.plan_hash);
  return hello;
}

}  // namespace ringside
