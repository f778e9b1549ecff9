// The called end of a stream of ring frames: what a left neighbour, or somebody who takes himself
// for it, sends. A reactor: it never blocks.
//
// The next read starts only while fewer than kMaxFramesWaiting frames wait to be taken; beyond
// that, gRPC's flow control stops the sender.
#ifndef RINGSIDE_ALLREDUCE_GRPC_RING_INLET_H_
#define RINGSIDE_ALLREDUCE_GRPC_RING_INLET_H_

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "allreduce/ring_hello.h"
#include "common/mutex.h"

namespace ringside {

inline constexpr char kRingMethod[] = "/ringside.Ring/Frames";
// Metadata, binary: the encoded RingHello, in the request and in the answer.
inline constexpr char kRingHelloKey[] = "ringside-ring-hello-bin";

class GrpcRingInlet final : public grpc::ServerGenericBidiReactor {
 public:
  static constexpr int kMaxFramesWaiting = 4;

  // Called from threads of gRPC, without the stream's lock; must not block.
  class Receiver {
   public:
    virtual ~Receiver() = default;
    virtual void OnLeftFrame(grpc::ByteBuffer frame) = 0;
    // Nothing follows: the sender has ended the stream, or is lost.
    virtual void OnLeftEnded() = 0;
  };

  // `on_done` is called once, last, when gRPC has let go of the stream: its owner deletes it there.
  GrpcRingInlet(grpc::GenericCallbackServerContext* context, const RingHello& call,
                std::function<void(GrpcRingInlet*)> on_done);

  const RingHello& call() const { return call_; }
  // Where the caller is, e.g. "ipv4:10.0.0.1:4711".
  const std::string& peer() const { return peer_; }

  // Answers and starts to read. False when the caller is gone already. `receiver` outlives the
  // stream. At most once.
  bool Admit(const RingHello& answer, Receiver* receiver);
  // Answers and ends the stream.
  void Refuse(const RingHello& answer, const absl::Status& why);
  // A frame has been taken.
  void FrameTaken();
  // Ends the stream.
  void Close(const absl::Status& status);

  void OnReadDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  void StartNextRead() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FinishOnce(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TellEnd();

  // Constant after construction.
  grpc::GenericCallbackServerContext* const context_;
  const RingHello call_;
  const std::string peer_;
  const std::function<void(GrpcRingInlet*)> on_done_;

  grpc::ByteBuffer incoming_;  // belongs to the read that is under way

  Mutex mutex_;
  Receiver* receiver_ ABSL_GUARDED_BY(mutex_) = nullptr;  // null: not admitted
  bool reading_ ABSL_GUARDED_BY(mutex_) = false;          // until the frame has been handed over
  bool end_told_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;  // no operation may be started any more
  int frames_waiting_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_GRPC_RING_INLET_H_
