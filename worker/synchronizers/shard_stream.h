// The worker's end of the stream of frames to one shard. A reactor: it never blocks.
//
// Owns a connection of its own. Frames are sent straight out of the memory that Send is given, or,
// where the shard has mapped that memory, their headers alone; one write is in flight, the others
// wait in a queue, which holds no more than the units of one step.
#ifndef RINGSIDE_WORKER_SYNCHRONIZERS_SHARD_STREAM_H_
#define RINGSIDE_WORKER_SYNCHRONIZERS_SHARD_STREAM_H_

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/frame_codec.h"
#include "common/mutex.h"
#include "common/network/frame_queue.h"
#include "common/network/grpc_frame.h"
#include "common/network/grpc_tuning.h"
#include "common/network/lent_slices.h"
#include "common/shared_memory/peer_memory.h"
#include "common/shared_memory/shared_arenas.h"
#include "common/trace/trace_buffer.h"
#include "common/traffic.h"
#include "worker/synchronizers/shard_link.h"

namespace ringside {

class ShardStream final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  // Called from threads of gRPC, without any lock of the stream; must not block.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void OnShardConnected(int shard) = 0;
    // `frame` refers to memory of gRPC, or to the shard's.
    virtual void OnShardFrame(int shard, ReceivedFrame frame) = 0;
    // The last call; the stream may be deleted from then on, but not from within it. OK: ended by
    // both in good order.
    virtual void OnShardEnded(int shard, const absl::Status& how) = 0;
  };

  struct Config {
    int shard = 0;
    ShardLink link;
    const SharedArenas* own = nullptr;  // what the shard has mapped; used where the link has memory
    GrpcTuning tuning;
    std::string token;
    int rank = 0;
    uint32_t generation = 0;
    std::string plan_hash;
    uint32_t recovery = 0;
    TraceBuffer* trace = nullptr;  // gets each write of pushes; borrowed; null: nothing does
  };

  // A frame that is to be sent. `payload` must stay as it is until the shard has answered or the
  // slices have come back.
  struct Frame {
    FrameHeader header;
    absl::Span<const float> payload;
  };

  // `lent`, `listener` and what the config points to outlive the stream. Delete it only after
  // OnShardEnded.
  ShardStream(const Config& config, LentSlices* lent, Listener* listener);

  // Starts to connect, and waits for the shard for as long as it takes. At most once, first.
  void Start();
  // Sends frames in this order. Those of one call can share a message (frame_queue.h).
  void Send(absl::Span<const Frame> frames);
  // Half-closes, once everything is sent.
  void EndWrites();
  void Cancel() { context_->TryCancel(); }
  // Closes the connection. Only after OnShardEnded, and not from a callback.
  void CloseConnection();

  TrafficCounters traffic() const;

  void OnReadInitialMetadataDone(bool ok) override;
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

 private:
  void Enqueue(const Frame& frame) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Gives up with `why`, which OnShardEnded will tell.
  void CancelFor(absl::Status why);
  void StartNextWrite() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The write that has just ended.
  void TraceWrite() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Constant after construction.
  const int shard_;
  const std::shared_ptr<const PeerMemory> memory_;  // the shard's; null: nothing is shared
  const SharedArenas* const own_;                   // null: nothing is shared
  LentSlices* const lent_;
  Listener* const listener_;
  TraceBuffer* const trace_;

  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<grpc::GenericStub> stub_;
  // Holds call and channel: it goes when the connection is to close.
  std::unique_ptr<grpc::ClientContext> context_ = std::make_unique<grpc::ClientContext>();
  // Belong to the read that is under way and to what follows it.
  grpc::ByteBuffer incoming_;
  std::vector<ReceivedFrame> frames_;
  grpc::ByteBuffer writing_;  // belongs to the write that is under way

  mutable Mutex mutex_;
  FrameQueue outgoing_ ABSL_GUARDED_BY(mutex_);
  bool writing_now_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t write_began_ns_ ABSL_GUARDED_BY(mutex_) = 0;  // where it is traced
  bool end_writes_ ABSL_GUARDED_BY(mutex_) = false;
  // Why this side gave up: somebody else answered, or sent what is no frame.
  absl::Status fault_ ABSL_GUARDED_BY(mutex_);
  bool broken_ ABSL_GUARDED_BY(mutex_) = false;  // nothing may be started any more
  TrafficCounters received_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_SYNCHRONIZERS_SHARD_STREAM_H_
