// The server's end of one worker's stream of frames. A reactor: it never blocks and never folds.
//
// Reading: a frame is handed to the executor as it was received; the next read starts only while
// fewer than kMaxFramesInFlight frames wait there. Writing: one write at a time; the queue holds
// references to results, at most those of two steps, because a worker that does not read does not
// push either.
#ifndef RINGSIDE_PS_SERVER_WORKER_STREAM_H_
#define RINGSIDE_PS_SERVER_WORKER_STREAM_H_

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "common/mutex.h"
#include "common/traffic.h"
#include "ps_server/reply_clock.h"
#include "ps_server/shard_executor.h"

namespace ringside {

class WorkerStream final : public grpc::ServerGenericBidiReactor {
 public:
  // What the worker said of itself in the request's metadata; unchecked.
  struct Hello {
    std::string rank;
    std::string generation;
    std::string plan;
  };

  // `on_done` is called once, last, when gRPC has let go of the stream: its owner deletes it there.
  WorkerStream(grpc::GenericCallbackServerContext* context, Hello hello,
               std::function<void(WorkerStream*)> on_done);

  const Hello& hello() const { return hello_; }
  // Of an admitted stream; -1 before.
  int rank() const;

  // Tells the worker which shard welcomes it and starts reading. `executor` outlives the stream. At
  // most once.
  bool Admit(int shard, int rank, ShardExecutor* executor);
  // Sends one frame, which carries `payload_bytes`; ignored when the stream is ending. `reply` is
  // kept until the write has ended.
  void Send(const grpc::ByteBuffer& frame, int64_t payload_bytes, ReplyClock::Ticket reply);
  // The executor has taken a frame.
  void FrameTaken();
  // Ends the stream with `status`, after the write in flight.
  void Close(const absl::Status& status);

  TrafficCounters traffic() const;

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  struct Outgoing {
    grpc::ByteBuffer frame;
    int64_t payload_bytes = 0;
    ReplyClock::Ticket reply;
  };

  absl::Status TakeFrame();
  void StartNextRead() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void StartNextWrite() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FinishOnce(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Constant after construction.
  grpc::GenericCallbackServerContext* const context_;
  const Hello hello_;
  const std::function<void(WorkerStream*)> on_done_;

  grpc::ByteBuffer incoming_;  // belongs to the read that is under way

  mutable Mutex mutex_;
  int rank_ ABSL_GUARDED_BY(mutex_) = -1;
  ShardExecutor* executor_ ABSL_GUARDED_BY(mutex_) = nullptr;
  bool reading_ ABSL_GUARDED_BY(mutex_) = false;  // until the frame has been handed over
  bool reads_ended_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;  // no operation may be started any more
  int frames_in_flight_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<Outgoing> outgoing_ ABSL_GUARDED_BY(mutex_);  // the first is being written
  TrafficCounters traffic_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ringside

#endif  // RINGSIDE_PS_SERVER_WORKER_STREAM_H_
