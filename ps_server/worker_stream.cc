#include "ps_server/worker_stream.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/network/grpc_frame.h"
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

bool WorkerStream::Admit(int shard, int rank, ShardExecutor* executor) {
  MutexLock lock(&mutex_);
  if (finished_) return false;
  rank_ = rank;
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
  if (ok) malformed = TakeFrame();
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

// Hands the received frame to the executor.
absl::Status WorkerStream::TakeFrame() {
  grpc::ByteBuffer message;
  message.Swap(&incoming_);
  absl::StatusOr<ReceivedFrame> frame = SplitFrame(message);
  ShardExecutor* executor = nullptr;
  {
    MutexLock lock(&mutex_);
    absl::Status status = frame.status();
    if (status.ok() && static_cast<int64_t>(frame->header.sender) != rank_) {
      status = absl::InvalidArgumentError(
          absl::StrCat(Describe(frame->header), ": it came on the stream of worker ", rank_));
    }
    if (!status.ok()) {
      executor_->StreamEnded(rank_, status);
      return status;
    }
    ++frames_in_flight_;
    if (frame->header.elements > 0) {
      traffic_.payload_bytes_received += frame->header.payload_bytes();
      traffic_.header_bytes_received += static_cast<int64_t>(kFrameHeaderBytes);
      ++traffic_.messages_received;
    }
    executor = executor_;
  }
  executor->PushFrame(frame->header, std::move(frame->payload));
  return absl::OkStatus();
}

void WorkerStream::FrameTaken() {
  MutexLock lock(&mutex_);
  --frames_in_flight_;
  StartNextRead();
}

void WorkerStream::Send(const grpc::ByteBuffer& frame, int64_t payload_bytes,
                        ReplyClock::Ticket reply) {
  MutexLock lock(&mutex_);
  if (finished_) return;
  outgoing_.push_back({frame, payload_bytes, std::move(reply)});
  if (outgoing_.size() == 1) StartNextWrite();
}

void WorkerStream::StartNextWrite() {
  if (outgoing_.front().payload_bytes > 0) {
    traffic_.payload_bytes_sent += outgoing_.front().payload_bytes;
    traffic_.header_bytes_sent += static_cast<int64_t>(kFrameHeaderBytes);
    ++traffic_.messages_sent;
  }
  StartWrite(&outgoing_.front().frame);
}

void WorkerStream::OnWriteDone(bool ok) {
  MutexLock lock(&mutex_);
  outgoing_.pop_front();
  if (!ok) outgoing_.clear();
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
  return traffic_;
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
