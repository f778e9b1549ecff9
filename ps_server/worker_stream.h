// The server's end of one worker's stream of frames. A reactor: it never blocks, and folds only
// where the shard is small (shard_executor.h).
//
// Reading: a message is split, its frames are handed to the executor as they were received, and the
// next read starts only while fewer than kMaxFramesInFlight frames wait there. Writing: one write
// at a time; headers of results that lie in shared memory travel together.
//
// Memory, however long a worker stalls or however fast it sends: for its frames, at most
// kMaxFramesInFlight of them with payload wait here and in the executor's queue (or
// kMaxFramesInFlight - 1 + kMaxFramesPerMessage, where they are 64-byte headers that refer to the
// worker's memory), one more message is being read, and gRPC holds what its flow-control window
// lets the worker send ahead; then the worker has to wait. For results, the queue holds references
// to the shard's arenas, headers and no payload, of at most two steps, because a worker that does
// not read does not push either; gRPC copies none of what does not fit into the socket.
#ifndef RINGSIDE_PS_SERVER_WORKER_STREAM_H_
#define RINGSIDE_PS_SERVER_WORKER_STREAM_H_

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/mutex.h"
#include "common/network/frame_queue.h"
#include "common/network/grpc_frame.h"
#include "common/shared_memory/peer_memory.h"
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
    std::string recovery;
    std::string memory;  // ticket; empty: it shares none
  };

  // `on_done` is called once, last, when gRPC has let go of the stream: its owner deletes it there.
  WorkerStream(grpc::GenericCallbackServerContext* context, Hello hello,
               std::function<void(WorkerStream*)> on_done);

  const Hello& hello() const { return hello_; }
  // Of an admitted stream; -1 before.
  int rank() const;

  // Tells the worker which shard welcomes it and starts reading. `executor` outlives the stream.
  // `memory` is what the worker shares, null: nothing; where it is not null, the worker has mapped
  // the shard's. At most once. False: the stream is over already.
  bool Admit(int shard, int rank, std::shared_ptr<const PeerMemory> memory,
             ShardExecutor* executor);
  bool shares_memory() const;
  // Sends one frame; `payload` is empty where the header has a location. Ignored when the stream is
  // ending. `reply` is kept until the write has ended.
  void Send(const FrameHeader& header, const grpc::Slice& payload, ReplyClock::Ticket reply);
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
  absl::Status TakeFrames();
  void StartNextRead() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void StartNextWrite() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FinishOnce(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Constant after construction.
  grpc::GenericCallbackServerContext* const context_;
  const Hello hello_;
  const std::function<void(WorkerStream*)> on_done_;

  // Belong to the read that is under way and to what follows it.
  grpc::ByteBuffer incoming_;
  std::vector<ReceivedFrame> frames_;
  grpc::ByteBuffer writing_;  // belongs to the write that is under way

  mutable Mutex mutex_;
  int rank_ ABSL_GUARDED_BY(mutex_) = -1;
  ShardExecutor* executor_ ABSL_GUARDED_BY(mutex_) = nullptr;
  bool reading_ ABSL_GUARDED_BY(mutex_) = false;  // until the frame has been handed over
  bool reads_ended_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;  // no operation may be started any more
  int frames_in_flight_ ABSL_GUARDED_BY(mutex_) = 0;
  std::shared_ptr<const PeerMemory> memory_ ABSL_GUARDED_BY(mutex_);
  FrameQueue outgoing_ ABSL_GUARDED_BY(mutex_);
  bool writing_now_ ABSL_GUARDED_BY(mutex_) = false;
  TrafficCounters received_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ringside

#endif  // RINGSIDE_PS_SERVER_WORKER_STREAM_H_
