#include "allreduce/peer_handshake.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/logging.h"
#include "common/network/poll.h"
#include "common/status_macros.h"
#include "common/suspects.h"

namespace ringside {
namespace {

// How long a refused rank stays to tell its callers what is wrong, who would else see a reset
// connection.
constexpr absl::Duration kFarewell = absl::Milliseconds(500);
// That are heard at a time, beyond those that are expected; the oldest gives way.
constexpr size_t kMaxStrangers = 64;

std::string CallerText(const Socket& socket) {
  return absl::StrCat("a caller from ", PeerText(socket));
}

std::string Name(const PeerHandshake::Call& call) {
  return absl::StrCat("worker ", call.rank, " at ", ToString(call.tcp));
}

absl::Status WithPrefix(const absl::Status& status, absl::string_view prefix) {
  return absl::Status(status.code(), absl::StrCat(prefix, status.message()));
}

}  // namespace

PeerHandshake::PeerHandshake(const Config* config, ListeningSocket* tcp, ListeningSocket* local)
    : config_(*config),
      tcp_(tcp),
      local_(local),
      deadline_(absl::Now() + config->connect_timeout) {}

absl::StatusOr<PeerHandshake::Connections> PeerHandshake::Run() {
  // Before anybody is called: what is wrong on all ranks should be seen on all, not as a lost
  // neighbour.
  if (!config_.congestion_control.empty()) {
    RINGSIDE_RETURN_IF_ERROR(CheckCongestionControl(config_.congestion_control));
  }
  for (const Call& call : config_.calls) RINGSIDE_RETURN_IF_ERROR(Dial(call));
  while (!AllCalled() || !AllWelcomed()) {
    if (absl::Now() >= deadline_) return TimeoutError();
    RINGSIDE_RETURN_IF_ERROR(WaitForSomething(deadline_));
    const absl::Status answer = ReadAnswers();
    if (!answer.ok()) {
      AnswerBeforeLeaving();
      return answer;
    }
    RINGSIDE_RETURN_IF_ERROR(HearCallers());
  }
  Connections connections;
  connections.callers = std::move(accepted_);
  for (Called& called : called_) {
    connections.called[called.call->rank] = {std::move(called.socket), called.shares_memory};
  }
  return connections;
}

bool PeerHandshake::AllWelcomed() const {
  return absl::c_all_of(called_, [](const Called& called) { return called.welcomed; });
}

absl::Status PeerHandshake::Dial(const Call& call) {
  const std::string name = absl::StrCat("worker ", call.rank, ": ");
  absl::StatusOr<std::unique_ptr<Socket>> socket = Connect(call);
  if (!socket.ok()) return WithSuspects(WithPrefix(socket.status(), name), {WorkerId(call.rank)});
  Called& called = called_.emplace_back();
  called.call = &call;
  called.socket = *std::move(socket);
  if (!config_.congestion_control.empty() && !called.socket->is_local()) {
    RINGSIDE_RETURN_IF_ERROR(called.socket->SetCongestionControl(config_.congestion_control));
  }
  const absl::Status sent =
      WriteFully(called.socket.get(), Encode(OwnHello(call.rank, *called.socket)), deadline_);
  if (!sent.ok()) return WithSuspects(WithPrefix(sent, name), {WorkerId(call.rank)});
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Socket>> PeerHandshake::Connect(const Call& call) const {
  if (!call.local.empty()) {
    absl::StatusOr<std::unique_ptr<Socket>> socket = Socket::ConnectLocal(call.local);
    if (socket.ok()) return socket;
    LogWarning(absl::StrCat("worker ", call.rank, " is on this host, but ",
                            socket.status().message(), "; TCP is used instead"));
  }
  return Socket::Connect(call.tcp, deadline_);
}

absl::Status PeerHandshake::ReadAnswers() {
  for (Called& called : called_) {
    if (!called.welcomed) RINGSIDE_RETURN_IF_ERROR(ReadAnswer(&called));
  }
  return absl::OkStatus();
}

absl::Status PeerHandshake::ReadAnswer(Called* called) {
  const int rank = called->call->rank;
  const std::string name = Name(*called->call);
  const absl::StatusOr<ByteStream::Transfer> transfer =
      called->socket->TryRead(absl::MakeSpan(called->answer).subspan(called->received));
  if (!transfer.ok()) {
    return WithSuspects(WithPrefix(transfer.status(), absl::StrCat("handshake with ", name, ": ")),
                        {WorkerId(rank)});
  }
  called->received += transfer->bytes;
  if (called->received < called->answer.size()) return absl::OkStatus();
  const absl::StatusOr<RingHello> answer = DecodeRingHello(called->answer);
  if (!answer.ok()) return WithPrefix(answer.status(), absl::StrCat(name, " answers: "));
  const RingHello own = OwnHello(rank, *called->socket);
  RINGSIDE_RETURN_IF_ERROR(RefusalStatus(answer->verdict, own, *answer, name));
  RINGSIDE_RETURN_IF_ERROR(RefusalStatus(Judge(own, *answer), own, *answer, name));
  called->welcomed = true;
  called->shares_memory = own.shares_memory && answer->shares_memory;
  return absl::OkStatus();
}

void PeerHandshake::AnswerBeforeLeaving() {
  const absl::Time until = std::min(deadline_, absl::Now() + kFarewell);
  leaving_ = true;
  while (!answered_any_ && !AllCalled() && absl::Now() < until) {
    if (!WaitForSomething(until).ok() || !HearCallers().ok()) return;
  }
}

absl::Status PeerHandshake::HearCallers() {
  if (AllCalled()) return absl::OkStatus();
  RINGSIDE_RETURN_IF_ERROR(AcceptCallers(tcp_));
  if (local_ != nullptr) RINGSIDE_RETURN_IF_ERROR(AcceptCallers(local_));
  for (Caller& caller : callers_) {
    if (!AllCalled()) RINGSIDE_RETURN_IF_ERROR(Hear(&caller));
  }
  callers_.remove_if([](const Caller& caller) { return caller.done; });
  return absl::OkStatus();
}

absl::Status PeerHandshake::AcceptCallers(ListeningSocket* listener) {
  for (;;) {
    absl::StatusOr<std::unique_ptr<Socket>> socket = listener->Accept(absl::InfinitePast());
    if (absl::IsDeadlineExceeded(socket.status())) return absl::OkStatus();
    RINGSIDE_RETURN_IF_ERROR(socket.status());
    if (callers_.size() == config_.callers.size() + kMaxStrangers) {
      Refuse(&callers_.front(), "there are too many callers");
      callers_.pop_front();
    }
    Caller& caller = callers_.emplace_back();
    caller.socket = *std::move(socket);
    caller.deadline = absl::Now() + config_.hello_timeout;
  }
}

absl::Status PeerHandshake::Hear(Caller* caller) {
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
  const absl::StatusOr<RingHello> hello = DecodeRingHello(caller->hello);
  if (hello.ok()) return Answer(caller, *hello);
  Refuse(caller, hello.status().message());
  return absl::OkStatus();
}

absl::Status PeerHandshake::Answer(Caller* caller, const RingHello& hello) {
  RingHello answer = OwnHello(ExpectedCaller(hello.sender), *caller->socket);
  answer.verdict = Judge(answer, hello);
  // A new connection takes 88 bytes at once; if not, the caller is gone.
  const absl::Status answered =
      WriteFully(caller->socket.get(), Encode(answer), absl::InfinitePast());
  if (answer.verdict == RingHello::Verdict::kWelcome && answered.ok()) {
    if (!config_.congestion_control.empty() && !caller->socket->is_local()) {
      RINGSIDE_RETURN_IF_ERROR(caller->socket->SetCongestionControl(config_.congestion_control));
    }
    accepted_[static_cast<int>(hello.sender)] = {std::move(caller->socket),
                                                 answer.shares_memory && hello.shares_memory};
    caller->done = true;
    return absl::OkStatus();
  }
  answered_any_ = true;
  const bool stranger = answer.verdict == RingHello::Verdict::kWrongToken;
  const std::string name =
      stranger ? CallerText(*caller->socket)
               : absl::StrCat("worker ", hello.sender, " at ", PeerText(*caller->socket));
  const absl::Status refusal =
      answered.ok() ? RefusalStatus(answer.verdict, answer, hello, name) : answered;
  // All but the plan is right: this is an expected caller, and no other will come in its place.
  if (answer.verdict == RingHello::Verdict::kWrongPlan) return refusal;
  Refuse(caller, refusal.message());
  return absl::OkStatus();
}

int PeerHandshake::ExpectedCaller(uint32_t sender) const {
  int first_missing = -1;
  for (const int rank : config_.callers) {
    if (accepted_.count(rank) > 0) continue;
    if (rank == static_cast<int>(sender)) return rank;
    if (first_missing < 0) first_missing = rank;
  }
  return first_missing;
}

absl::Status PeerHandshake::WaitForSomething(absl::Time until) {
  std::vector<pollfd> entries;
  for (const Called& called : called_) {
    if (!called.welcomed && !leaving_) entries.push_back({called.socket->fd(), POLLIN, 0});
  }
  if (!AllCalled()) {
    entries.push_back({tcp_->fd(), POLLIN, 0});
    if (local_ != nullptr) entries.push_back({local_->fd(), POLLIN, 0});
    for (const Caller& caller : callers_) {
      entries.push_back({caller.socket->fd(), POLLIN, 0});
      until = std::min(until, caller.deadline);
    }
  }
  return PollUntil(absl::MakeSpan(entries), until).status();
}

void PeerHandshake::Refuse(Caller* caller, absl::string_view why) {
  last_refusal_ = absl::StrCat(CallerText(*caller->socket), ": ", why);
  caller->done = true;
}

absl::Status PeerHandshake::TimeoutError() const {
  std::vector<int> suspects;
  std::string what;
  for (const int rank : config_.callers) {
    if (accepted_.count(rank) > 0) continue;
    absl::StrAppend(&what, what.empty() ? "" : " and ", "worker ", rank, " has not connected");
    suspects.push_back(rank);
  }
  for (const Called& called : called_) {
    if (called.welcomed) continue;
    absl::StrAppend(&what, what.empty() ? "" : " and ", Name(*called.call), " has not answered");
    if (!absl::c_linear_search(suspects, called.call->rank)) suspects.push_back(called.call->rank);
  }
  absl::StrAppend(&what, " within ", absl::FormatDuration(config_.connect_timeout));
  if (!last_refusal_.empty()) absl::StrAppend(&what, " (last refused: ", last_refusal_, ")");
  std::vector<MemberId> members;
  for (const int rank : suspects) members.push_back(WorkerId(rank));
  return WithSuspects(absl::DeadlineExceededError(what), members);
}

RingHello PeerHandshake::OwnHello(int receiver, const Socket& socket) const {
  RingHello hello;
  hello.shares_memory = config_.shares_memory && socket.is_local();
  hello.group = config_.group.id;
  hello.generation = config_.group.generation;
  hello.sender = config_.group.rank();
  hello.receiver = receiver;
  hello.token_sha256 = Sha256Of(config_.token);
  hello.plan_sha256 = Sha256Of(config_.plan_hash);
  return hello;
}

}  // namespace ringside
