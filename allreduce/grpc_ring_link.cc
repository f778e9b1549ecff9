#include "allreduce/grpc_ring_link.h"

#include <algorithm>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/check.h"
#include "common/logging.h"
#include "common/network/grpc_frame.h"
#include "common/network/grpc_server.h"
#include "common/status_macros.h"
#include "common/suspects.h"

namespace ringside {
namespace {

// How long a refused rank stays to tell its left neighbour what is wrong, and how long answers may
// take to leave.
constexpr absl::Duration kFarewell = absl::Milliseconds(500);
// For the right neighbour to take what was sent to it, after which it ends the stream.
constexpr absl::Duration kDrainTimeout = absl::Seconds(2);
// For closed connections to give lent memory back.
constexpr absl::Duration kReturnTimeout = absl::Seconds(5);

std::string SinceText(absl::Time then) {
  return absl::FormatDuration(absl::Trunc(absl::Now() - then, absl::Milliseconds(10)));
}

absl::Status WithPrefix(const absl::Status& status, absl::string_view prefix) {
  return absl::Status(status.code(), absl::StrCat(prefix, status.message()));
}

void ShutDown(grpc::Server* server) {
  server->Shutdown(absl::ToChronoTime(absl::Now() + kFarewell));
}

}  // namespace

absl::StatusOr<std::unique_ptr<GrpcRingListener>> GrpcRingListener::Open(const BindAddress& bind) {
  auto service = std::make_unique<GrpcRingService>();
  RINGSIDE_ASSIGN_OR_RETURN(GrpcServer started,
                            StartGrpcServer(bind, [&](grpc::ServerBuilder* builder) {
                              builder->RegisterCallbackGenericService(service.get());
                            }));
  return absl::WrapUnique(new GrpcRingListener(std::move(service), std::move(started.server),
                                               std::move(started.endpoint)));
}

GrpcRingListener::~GrpcRingListener() {
  service_->Close();
  ShutDown(server_.get());
  server_ = nullptr;
}

absl::StatusOr<std::unique_ptr<GrpcRingLink>> GrpcRingLink::Connect(
    std::unique_ptr<GrpcRingListener> listener, const Config& config) {
  const Group& group = config.group;
  if (listener == nullptr || group.size() < 2 || group.index < 0 || group.index >= group.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a ring link needs a listener and a place in a group of at least 2; this is index ",
        group.index, " of ", group.size()));
  }
  auto link = absl::WrapUnique(new GrpcRingLink(std::move(listener), config));
  RINGSIDE_RETURN_IF_ERROR(link->AwaitNeighbours());
  return link;
}

GrpcRingLink::GrpcRingLink(std::unique_ptr<GrpcRingListener> listener, const Config& config)
    : config_(config),
      left_rank_(config.group.left()),
      right_rank_(config.group.right()),
      listener_(std::move(listener)),
      lent_(std::make_unique<LentSlices>()),
      outlet_(absl::WrapUnique(new GrpcRingOutlet(config.right, this))),
      last_received_(absl::Now()),
      last_sent_(absl::Now()) {
  listener_->service_->Serve(OwnHello(left_rank_), this);
  outlet_->Start(OwnHello(right_rank_));
}

GrpcRingLink::~GrpcRingLink() {
  listener_->service_->Close();  // no more is taken from the left
  outlet_->EndWrites();
  {
    MutexLock lock(&mutex_);
    const absl::Time deadline = absl::Now() + kDrainTimeout;
    while (welcomed_ && !right_ended_ && changed_.WaitUntil(&mutex_, deadline)) {
    }
  }
  outlet_->Cancel();
  {
    // No deadline: a cancelled call always ends, and its reactor must not be deleted before.
    MutexLock lock(&mutex_);
    while (!right_ended_) changed_.Wait(&mutex_);
  }
  ShutDown(listener_->server_.get());
  outlet_->CloseConnection();
  if (!lent_->AwaitReturn(absl::Now() + kReturnTimeout)) {
    LogWarning(
        absl::StrCat("worker ", config_.group.rank(), ": gRPC still holds gradients of the ring"));
    lent_.release();  // they may yet come back
  }
}

absl::Status GrpcRingLink::AwaitNeighbours() {
  const absl::Time deadline = absl::Now() + config_.connect_timeout;
  MutexLock lock(&mutex_);
  while (failure_.ok() && !(admitted_ && welcomed_)) {
    if (!changed_.WaitUntil(&mutex_, deadline) && failure_.ok() && !(admitted_ && welcomed_)) {
      Fail(HandshakeTimeout());
    }
  }
  // So that the left neighbour hears what is wrong, who would else see a lost connection.
  const absl::Time until = std::min(deadline, absl::Now() + kFarewell);
  while (!failure_.ok() && !answered_any_ && changed_.WaitUntil(&mutex_, until)) {
  }
  return failure_;
}

absl::Status GrpcRingLink::HandshakeTimeout() const {
  std::string what;
  std::vector<MemberId> suspects;
  if (!admitted_) {
    absl::StrAppend(&what, "worker ", left_rank_, " has not connected");
    suspects.push_back(WorkerId(left_rank_));
  }
  if (!welcomed_) {
    absl::StrAppend(&what, what.empty() ? "" : " and ", RightName(), " has not answered");
    if (right_rank_ != left_rank_ || suspects.empty()) suspects.push_back(WorkerId(right_rank_));
  }
  absl::StrAppend(&what, " within ", absl::FormatDuration(config_.connect_timeout));
  if (!last_refusal_.ok()) {
    absl::StrAppend(&what, " (last refused: ", last_refusal_.message(), ")");
  }
  return WithSuspects(absl::DeadlineExceededError(what), suspects);
}

RingHello GrpcRingLink::OwnHello(int receiver) const {
  RingHello hello;
  hello.group = config_.group.id;
  hello.generation = config_.group.generation;
  hello.sender = static_cast<uint32_t>(config_.group.rank());
  hello.receiver = static_cast<uint32_t>(receiver);
  hello.token_sha256 = Sha256Of(config_.token);
  hello.plan_sha256 = Sha256Of(config_.plan_hash);
  return hello;
}

std::string GrpcRingLink::RightName() const {
  return absl::StrCat("worker ", right_rank_, " at ", ToString(config_.right));
}

void GrpcRingLink::Send(const FrameHeader& header, absl::Span<const uint8_t> payload) {
  RINGSIDE_CHECK(header.payload_bytes() == static_cast<int64_t>(payload.size()));
  if (lent_->out() == 0) {
    MutexLock lock(&mutex_);
    last_sent_ = absl::Now();
  }
  outlet_->Send(MakeFrame(header, lent_->Lend(payload)), header.payload_bytes());
}

absl::StatusOr<FrameHeader> GrpcRingLink::ReceiveHeader(absl::Time deadline) {
  RINGSIDE_CHECK(payload_.remaining_bytes() == 0);
  const absl::StatusOr<grpc::ByteBuffer> message = NextFrame(deadline);
  if (!message.ok()) return GiveUp(message.status());
  absl::StatusOr<ReceivedFrame> frame = SplitFrame(*message);
  if (!frame.ok()) {
    return GiveUp(
        WithSuspects(WithPrefix(frame.status(), absl::StrCat("from worker ", left_rank_, ": ")),
                     {WorkerId(left_rank_)}));
  }
  payload_.Start(std::move(frame->payload), BytesPerElement(frame->header.dtype));
  listener_->service_->FrameTaken();
  MutexLock lock(&mutex_);
  traffic_.payload_bytes_received += frame->header.payload_bytes();
  traffic_.header_bytes_received += static_cast<int64_t>(kFrameHeaderBytes);
  ++traffic_.messages_received;
  return frame->header;
}

absl::StatusOr<grpc::ByteBuffer> GrpcRingLink::NextFrame(absl::Time deadline) {
  MutexLock lock(&mutex_);
  bool in_time = true;
  for (;;) {
    // What has arrived comes before what happened after it.
    if (!arrived_.empty() && !interrupted_) {
      grpc::ByteBuffer frame;
      frame.Swap(&arrived_.front());
      arrived_.pop_front();
      return frame;
    }
    RINGSIDE_RETURN_IF_ERROR(InterruptedOrFailed());
    if (left_ended_) {
      return WithSuspects(
          absl::UnavailableError(absl::StrCat("connection from worker ", left_rank_,
                                              ": the peer has closed the connection")),
          {WorkerId(left_rank_)});
    }
    if (!in_time) return TimeoutError(/*receiving=*/true);
    in_time = changed_.WaitUntil(&mutex_, deadline);
  }
}

absl::Status GrpcRingLink::ReceivePayload(absl::Span<uint8_t> into, absl::Time /*deadline*/) {
  RINGSIDE_RETURN_IF_ERROR(CheckUsable());
  payload_.CopyTo(into);  // the message is here as a whole
  return absl::OkStatus();
}

absl::StatusOr<absl::Span<const uint8_t>> GrpcRingLink::NextPiece(absl::Time /*deadline*/) {
  RINGSIDE_RETURN_IF_ERROR(CheckUsable());
  return payload_.Next();
}

absl::Status GrpcRingLink::Flush(absl::Time deadline) {
  const absl::Status status = AwaitAllSent(deadline);
  return status.ok() ? status : GiveUp(status);
}

absl::Status GrpcRingLink::AwaitAllSent(absl::Time deadline) {
  const bool returned = lent_->AwaitReturn(deadline, &give_up_);
  const bool lost = outlet_->lost_frames();
  MutexLock lock(&mutex_);
  if (lost) {
    // How the stream ended is about to be told.
    while (failure_.ok() && !interrupted_ && changed_.WaitUntil(&mutex_, deadline)) {
    }
  }
  RINGSIDE_RETURN_IF_ERROR(InterruptedOrFailed());
  return returned && !lost ? absl::OkStatus() : TimeoutError(/*receiving=*/false);
}

absl::Status GrpcRingLink::CheckUsable() const {
  if (!give_up_.load(std::memory_order_relaxed)) return absl::OkStatus();
  MutexLock lock(&mutex_);
  return InterruptedOrFailed();
}

absl::Status GrpcRingLink::InterruptedOrFailed() const {
  return interrupted_ ? absl::AbortedError("interrupted") : failure_;
}

absl::Status GrpcRingLink::TimeoutError(bool receiving) const {
  std::string what;
  std::vector<MemberId> suspects;
  if (receiving) {
    absl::StrAppend(&what, "no data from worker ", left_rank_, " for ", SinceText(last_received_));
    suspects.push_back(WorkerId(left_rank_));
  }
  if (!receiving || lent_->out() > 0) {
    absl::StrAppend(&what, receiving ? ", and " : "", "worker ", right_rank_,
                    " has taken none for ", SinceText(last_sent_));
    if (!receiving || right_rank_ != left_rank_) suspects.push_back(WorkerId(right_rank_));
  }
  return WithSuspects(absl::DeadlineExceededError(what), suspects);
}

absl::Status GrpcRingLink::GiveUp(const absl::Status& status) {
  outlet_->Cancel();
  MutexLock lock(&mutex_);
  Fail(status);
  return status;
}

void GrpcRingLink::Fail(const absl::Status& status) {
  if (failure_.ok()) failure_ = status;
  give_up_ = true;
  lent_->Wake();
  changed_.NotifyAll();
}

void GrpcRingLink::Interrupt() {
  MutexLock lock(&mutex_);
  interrupted_ = true;
  give_up_ = true;
  lent_->Wake();
  changed_.NotifyAll();
}

TrafficCounters GrpcRingLink::traffic() const {
  MutexLock lock(&mutex_);
  return traffic_;
}

void GrpcRingLink::OnLeftAdmitted() {
  MutexLock lock(&mutex_);
  admitted_ = true;
  answered_any_ = true;
  last_received_ = absl::Now();
  changed_.NotifyAll();
}

void GrpcRingLink::OnCallerRefused(const absl::Status& why, bool is_left) {
  MutexLock lock(&mutex_);
  answered_any_ = true;
  last_refusal_ = why;
  if (is_left) Fail(why);
  changed_.NotifyAll();
}

void GrpcRingLink::OnLeftFrame(grpc::ByteBuffer frame) {
  MutexLock lock(&mutex_);
  arrived_.emplace_back();
  arrived_.back().Swap(&frame);
  last_received_ = absl::Now();
  changed_.NotifyAll();
}

void GrpcRingLink::OnLeftEnded() {
  MutexLock lock(&mutex_);
  left_ended_ = true;
  changed_.NotifyAll();
}

void GrpcRingLink::OnRightAnswer(const absl::StatusOr<RingHello>& answer) {
  MutexLock lock(&mutex_);
  if (!answer.ok()) {
    Fail(WithPrefix(answer.status(), absl::StrCat(RightName(), " answers: ")));
    return;
  }
  const RingHello own = OwnHello(right_rank_);
  absl::Status status = RefusalStatus(answer->verdict, own, *answer, RightName());
  if (status.ok()) status = RefusalStatus(Judge(own, *answer), own, *answer, RightName());
  if (status.ok()) {
    welcomed_ = true;
    last_sent_ = absl::Now();
  } else {
    Fail(status);
  }
  changed_.NotifyAll();
}

void GrpcRingLink::OnFrameSent(int64_t payload_bytes) {
  MutexLock lock(&mutex_);
  last_sent_ = absl::Now();
  traffic_.payload_bytes_sent += payload_bytes;
  traffic_.header_bytes_sent += static_cast<int64_t>(kFrameHeaderBytes);
  ++traffic_.messages_sent;
}

void GrpcRingLink::OnRightEnded(const absl::Status& how) {
  const bool lost = outlet_->lost_frames();
  MutexLock lock(&mutex_);
  right_ended_ = true;
  const absl::string_view why = how.ok() ? "the peer has closed the connection" : how.message();
  if (!welcomed_) {
    Fail(WithSuspects(absl::Status(how.ok() ? absl::StatusCode::kUnavailable : how.code(),
                                   absl::StrCat(RightName(), ": ", why)),
                      {WorkerId(right_rank_)}));
  } else if (lost || absl::IsInvalidArgument(how)) {
    // Without loss it may be that the neighbour has all it needs and is done.
    Fail(WithSuspects(
        absl::Status(absl::IsInvalidArgument(how) ? how.code() : absl::StatusCode::kUnavailable,
                     absl::StrCat("connection to worker ", right_rank_, ": ", why)),
        {WorkerId(right_rank_)}));
  }
  changed_.NotifyAll();
}

}  // namespace ringside
