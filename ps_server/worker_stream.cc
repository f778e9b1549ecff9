#include "ps_server/worker_stream.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/network/grpc_status.h"
#include "common/status_macros.h"

namespace ringside {

WorkerStream::WorkerStream(grpc::GenericCallbackServerContext* context, Hello hello,
                           std::function<void(WorkerStream*)> on_done)
    : context_(context), hello_(std::move(hello)), on_done_(std::move(on_done)) {}

int WorkerStream::rank() const {
  MutexLock lock(&mutex_);
  return rank_;
}

bool WorkerStream::shares_memory() const {
  MutexLock lock(&mutex_);
  return memory_ != nullptr;
}

bool WorkerStream::Admit(int shard, int rank, std::shared_ptr<const PeerMemory> memory,
                         ShardExecutor* executor) {
  MutexLock lock(&mutex_);
  if (finished_) return false;
  rank_ = rank;
  memory_ = std::move(memory);
  executor_ = executor;
  context_->AddInitialMetadata(kShardKey, absl::StrCat(shard));
  StartSendInitialMetadata();
  StartNextRead();
  return true;
}

void WorkerStream::StartNextRead() {
  if (reading_ || reads_ended_ || finished_ || frames_in_flight_ >= kMaxFramesInFlight) return;
  reading_ = true;
  StartRead(&incoming_);
}

void WorkerStream::OnReadDone(bool ok) {
  absl::Status malformed;
  if (ok) malformed = TakeFrames();
  MutexLock lock(&mutex_);
  reading_ = false;
  if (!ok) {
    // The worker's half-close, or the stream is broken: which one it was is known in OnDone.
    reads_ended_ = true;
    if (outgoing_.empty()) FinishOnce(absl::OkStatus());
  } else if (!malformed.ok()) {
    FinishOnce(malformed);
  } else {
    StartNextRead();
  }
}

// Hands the received frames to the executor.
absl::Status WorkerStream::TakeFrames() {
  grpc::ByteBuffer message;
  message.Swap(&incoming_);
  ShardExecutor* executor = nullptr;
  {
    MutexLock lock(&mutex_);
    absl::Status status = SplitMessage(message, memory_, &frames_);
    for (auto frame = frames_.begin(); frame != frames_.end() && status.ok(); ++frame) {
      if (static_cast<int64_t>(frame->header.sender) == rank_) continue;
      status = absl::InvalidArgumentError(
          absl::StrCat(Describe(frame->header), ": it came on the stream of worker ", rank_));
    }
    if (!status.ok()) {
      frames_.clear();
      executor_->StreamEnded(rank_, status);
      return status;
    }
    frames_in_flight_ += static_cast<int>(frames_.size());
    for (const ReceivedFrame& frame : frames_) CountReceived(frame.header, &received_);
    executor = executor_;
  }
  for (ReceivedFrame& frame : frames_) executor->PushFrame(frame.header, std::move(frame.payload));
  frames_.clear();
  return absl::OkStatus();
}

void WorkerStream::FrameTaken() {
  MutexLock lock(&mutex_);
  --frames_in_flight_;
  StartNextRead();
}

void WorkerStream::Send(const FrameHeader& header, const grpc::Slice& payload,
                        ReplyClock::Ticket reply) {
  MutexLock lock(&mutex_);
  if (finished_) return;
  outgoing_.Push(header, payload, std::move(reply));
  if (!writing_now_) StartNextWrite();
}

void WorkerStream::StartNextWrite() {
  writing_now_ = true;
  writing_ = outgoing_.NextMessage();
  StartWrite(&writing_);
}

void WorkerStream::OnWriteDone(bool ok) {
  MutexLock lock(&mutex_);
  writing_now_ = false;
  writing_.Clear();
  outgoing_.Written();
  if (!ok) outgoing_.Clear();
  if (finished_) return;
  if (!outgoing_.empty()) {
    StartNextWrite();
  } else if (reads_ended_) {
    FinishOnce(absl::OkStatus());
  }
}

void WorkerStream::Close(const absl::Status& status) {
  MutexLock lock(&mutex_);
  FinishOnce(status);
}

void WorkerStream::OnCancel() { Close(absl::CancelledError("the stream broke")); }

void WorkerStream::FinishOnce(const absl::Status& status) {
  if (finished_) return;
  finished_ = true;
  Finish(ToGrpcStatus(status));
}

TrafficCounters WorkerStream::traffic() const {
  MutexLock lock(&mutex_);
  TrafficCounters sum = outgoing_.traffic();
  sum += received_;
  return sum;
}

void WorkerStream::OnDone() {
  ShardExecutor* executor = nullptr;
  int rank = -1;
  {
    MutexLock lock(&mutex_);
    executor = executor_;
    rank = rank_;
  }
  if (executor != nullptr) {
    executor->StreamEnded(
        rank, context_->IsCancelled()
                  ? absl::UnavailableError("the connection was lost or the worker gave up")
                  : absl::OkStatus());
  }
  const auto on_done = on_done_;  // it deletes this stream
  on_done(this);
}

}  // namespace ringside
