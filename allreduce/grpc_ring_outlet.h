// The calling end of a stream of ring frames, to the right neighbour. A reactor: it never blocks.
//
// Owns a connection of its own. One write is in flight, the others wait in a queue, which holds no
// more than the frames of one sum.
#ifndef RINGSIDE_ALLREDUCE_GRPC_RING_OUTLET_H_
#define RINGSIDE_ALLREDUCE_GRPC_RING_OUTLET_H_

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <deque>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "allreduce/ring_hello.h"
#include "common/mutex.h"
#include "common/network/endpoint.h"

namespace ringside {

class GrpcRingOutlet final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  // Called from threads of gRPC, without the stream's lock; must not block.
  class Listener {
   public:
    virtual ~Listener() = default;
    // What the right neighbour says to our hello. INVALID_ARGUMENT: it is no hello.
    virtual void OnRightAnswer(const absl::StatusOr<RingHello>& answer) = 0;
    // A frame has left this queue; its memory may still be with gRPC.
    virtual void OnFrameSent(int64_t payload_bytes) = 0;
    // The last call; the stream may be deleted from then on, but not from within it. OK: the
    // neighbour has ended it in good order.
    virtual void OnRightEnded(const absl::Status& how) = 0;
  };

  // `listener` outlives the stream. Delete it only after OnRightEnded.
  GrpcRingOutlet(const Endpoint& right, Listener* listener);

  // Calls the right neighbour. At most once, first.
  void Start(const RingHello& call);
  // Queues a frame of so many payload bytes.
  void Send(grpc::ByteBuffer frame, int64_t payload_bytes);
  // Half-closes, once everything is sent.
  void EndWrites();
  void Cancel() { context_->TryCancel(); }
  // Closes the connection. Only after OnRightEnded, and not from a callback.
  void CloseConnection();

  // Whether the stream ended before all frames had left.
  bool lost_frames() const;

  void OnReadInitialMetadataDone(bool ok) override;
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

 private:
  struct Outgoing {
    grpc::ByteBuffer frame;
    int64_t payload_bytes = 0;
  };

  Listener* const listener_;

  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<grpc::GenericStub> stub_;
  // Holds call and channel: it goes when the connection is to close.
  std::unique_ptr<grpc::ClientContext> context_ = std::make_unique<grpc::ClientContext>();
  grpc::ByteBuffer incoming_;  // belongs to the read that is under way

  mutable Mutex mutex_;
  std::deque<Outgoing> outgoing_ ABSL_GUARDED_BY(mutex_);  // the first is being written
  bool end_writes_ ABSL_GUARDED_BY(mutex_) = false;
  bool broken_ ABSL_GUARDED_BY(mutex_) = false;  // nothing may be started any more
  bool lost_frames_ ABSL_GUARDED_BY(mutex_) = false;
  bool spoken_to_ ABSL_GUARDED_BY(mutex_) = false;  // the neighbour sent where it only receives
};

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_GRPC_RING_OUTLET_H_
