// The worker's end of the stream of frames to one shard. A reactor: it never blocks.
//
// Owns a connection of its own. Frames are sent straight out of the memory that Send is given; one
// write is in flight, the others wait in a queue, which holds no more than the units of one step.
#ifndef RINGSIDE_WORKER_SYNCHRONIZERS_SHARD_STREAM_H_
#define RINGSIDE_WORKER_SYNCHRONIZERS_SHARD_STREAM_H_

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/frame_codec.h"
#include "common/mutex.h"
#include "common/network/endpoint.h"
#include "common/network/lent_slices.h"
#include "common/traffic.h"

namespace ringside {

class ShardStream final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  // Called from threads of gRPC, without any lock of the stream; must not block.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void OnShardConnected(int shard) = 0;
    virtual void OnShardFrame(int shard, const grpc::ByteBuffer& message) = 0;
    // The last call; the stream may be deleted from then on, but not from within it. OK: ended by
    // both in good order.
    virtual void OnShardEnded(int shard, const absl::Status& how) = 0;
  };

  struct Config {
    int shard = 0;
    Endpoint endpoint;
    std::string token;
    int rank = 0;
    uint32_t generation = 0;
    std::string plan_hash;
    uint32_t recovery = 0;
  };

  // `lent` and `listener` outlive the stream. Delete it only after OnShardEnded.
  ShardStream(const Config& config, LentSlices* lent, Listener* listener);

  // Starts to connect, and waits for the shard for as long as it takes. At most once, first.
  void Start();
  // Sends a frame; `payload` must stay as it is until the shard has answered or the slices have
  // come back.
  void Send(const FrameHeader& header, absl::Span<const float> payload);
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
  struct Outgoing {
    FrameHeader header;
    absl::Span<const float> payload;
  };

  void StartNextWrite() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Constant after construction.
  const int shard_;
  const Endpoint endpoint_;
  LentSlices* const lent_;
  Listener* const listener_;

  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<grpc::GenericStub> stub_;
  // Holds call and channel: it goes when the connection is to close.
  std::unique_ptr<grpc::ClientContext> context_ = std::make_unique<grpc::ClientContext>();
  grpc::ByteBuffer incoming_;  // belongs to the read that is under way
  grpc::ByteBuffer writing_;   // belongs to the write that is under way

  mutable Mutex mutex_;
  std::deque<Outgoing> outgoing_ ABSL_GUARDED_BY(mutex_);  // the first is being written
  bool end_writes_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status wrong_shard_ ABSL_GUARDED_BY(mutex_);  // somebody else answered
  bool broken_ ABSL_GUARDED_BY(mutex_) = false;       // nothing may be started any more
  TrafficCounters traffic_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_SYNCHRONIZERS_SHARD_STREAM_H_
