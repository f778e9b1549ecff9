#include "worker/synchronizers/shard_stream.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/network/grpc_server.h"
#include "common/network/grpc_status.h"
#include "common/sha256.h"

namespace ringside {

ShardStream::ShardStream(const Config& config, LentSlices* lent, Listener* listener)
    : shard_(config.shard),
      memory_(config.link.memory),
      own_(config.link.memory != nullptr ? config.own : nullptr),
      lent_(lent),
      listener_(listener),
      trace_(config.trace),
      channel_(CreateGrpcChannel(config.link.target, config.tuning)),
      stub_(std::make_unique<grpc::GenericStub>(channel_)) {
  context_->set_wait_for_ready(true);
  context_->AddMetadata(kTokenKey, Sha256Hex(absl::string_view(config.token)));
  context_->AddMetadata(kRankKey, absl::StrCat(config.rank));
  context_->AddMetadata(kGenerationKey, absl::StrCat(config.generation));
  context_->AddMetadata(kPlanKey, config.plan_hash);
  context_->AddMetadata(kRecoveryKey, absl::StrCat(config.recovery));
  if (memory_ != nullptr) context_->AddMetadata(kMemoryKey, absl::StrCat(config.link.ticket));
}

void ShardStream::Start() {
  stub_->PrepareBidiStreamingCall(context_.get(), kExchangeMethod, grpc::StubOptions(), this);
  AddHold();  // because Send comes from outside; released by the end of reading, which always comes
  StartRead(&incoming_);
  StartCall();
}

void ShardStream::Send(absl::Span<const Frame> frames) {
  MutexLock lock(&mutex_);
  if (broken_) return;
  for (const Frame& frame : frames) Enqueue(frame);
  if (!writing_now_ && !outgoing_.empty()) StartNextWrite();
}

void ShardStream::Enqueue(const Frame& frame) {
  const absl::Span<const uint8_t> bytes = {reinterpret_cast<const uint8_t*>(frame.payload.data()),
                                           frame.payload.size() * sizeof(float)};
  const auto location = own_ != nullptr ? own_->Locate(bytes) : absl::nullopt;
  if (!location.has_value()) {
    outgoing_.Push(frame.header, lent_->Lend(bytes));
    return;
  }
  FrameHeader located = frame.header;
  located.location = LocationOf(location->segment, location->offset);
  outgoing_.Push(located, grpc::Slice());
}

void ShardStream::StartNextWrite() {
  writing_now_ = true;
  writing_ = outgoing_.NextMessage();
  if (trace_ != nullptr) write_began_ns_ = TraceBuffer::Now();
  StartWrite(&writing_);
}

void ShardStream::TraceWrite() {
  const int64_t now = TraceBuffer::Now();
  const FrameHeader* last = nullptr;
  // Frames of a bucket lie next to each other.
  for (size_t i = 0; i < outgoing_.being_written(); ++i) {
    const FrameHeader& header = outgoing_.header_being_written(i);
    const bool another =
        last == nullptr || header.bucket != last->bucket || header.step != last->step;
    last = &header;
    if (header.kind != FrameKind::kPush || !another) continue;
    const auto step = static_cast<int64_t>(header.step);
    TraceBuffer* const trace = TraceBuffer::If(trace_, step);
    if (trace == nullptr) continue;
    trace->Record(
        {TRACE_PUSH, step, static_cast<int>(header.bucket), shard_, write_began_ns_, now});
  }
}

void ShardStream::EndWrites() {
  MutexLock lock(&mutex_);
  if (broken_ || end_writes_) return;
  end_writes_ = true;
  if (!writing_now_) StartWritesDone();
}

void ShardStream::OnWriteDone(bool ok) {
  MutexLock lock(&mutex_);
  writing_now_ = false;
  writing_.Clear();
  if (trace_ != nullptr) TraceWrite();
  outgoing_.Written();
  if (!ok || broken_) {
    outgoing_.Clear();
  } else if (!outgoing_.empty()) {
    StartNextWrite();
  } else if (end_writes_) {
    StartWritesDone();
  }
}

void ShardStream::OnReadInitialMetadataDone(bool ok) {
  // A refusal has no such entry; its status comes with OnDone.
  if (!ok || context_->GetServerInitialMetadata().count(kShardKey) == 0) return;
  const grpc::string_ref answer = context_->GetServerInitialMetadata().find(kShardKey)->second;
  if (answer == absl::StrCat(shard_)) {
    listener_->OnShardConnected(shard_);
    return;
  }
  CancelFor(absl::FailedPreconditionError(
      absl::StrCat("shard ", std::string(answer.data(), answer.size()), " answers there")));
}

void ShardStream::OnReadDone(bool ok) {
  if (!ok) {
    {
      MutexLock lock(&mutex_);
      broken_ = true;
    }
    RemoveHold();
    return;
  }
  absl::Status status = SplitMessage(incoming_, memory_, &frames_);
  incoming_.Clear();
  {
    MutexLock lock(&mutex_);
    for (const ReceivedFrame& frame : frames_) CountReceived(frame.header, &received_);
  }
  for (ReceivedFrame& frame : frames_) listener_->OnShardFrame(shard_, std::move(frame));
  frames_.clear();
  if (!status.ok()) CancelFor(std::move(status));
  StartRead(&incoming_);  // of a cancelled stream it fails, which ends it in good order
}

void ShardStream::CancelFor(absl::Status why) {
  {
    MutexLock lock(&mutex_);
    if (fault_.ok()) fault_ = std::move(why);
  }
  Cancel();
}

void ShardStream::OnDone(const grpc::Status& status) {
  absl::Status how = FromGrpcStatus(status);
  {
    MutexLock lock(&mutex_);
    if (!fault_.ok()) how = fault_;
  }
  listener_->OnShardEnded(shard_, how);
}

void ShardStream::CloseConnection() {
  context_ = nullptr;  // it holds the channel as well
  stub_ = nullptr;
  channel_ = nullptr;
}

TrafficCounters ShardStream::traffic() const {
  MutexLock lock(&mutex_);
  TrafficCounters sum = outgoing_.traffic();
  sum += received_;
  return sum;
}

}  // namespace ringside
