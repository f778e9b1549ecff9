// Hears who calls a rank of a ring over gRPC: admits its left neighbour and refuses all others.
//
// The server has to listen before the ring is known, because joining publishes its port. Callers
// that come before Serve wait, and are then admitted or refused; strangers among them neither end
// the handshake nor hold it up. What is compared: allreduce/ring_hello.h.
#ifndef RINGSIDE_ALLREDUCE_GRPC_RING_SERVICE_H_
#define RINGSIDE_ALLREDUCE_GRPC_RING_SERVICE_H_

#include <grpcpp/generic/async_generic_service.h>

#include <list>
#include <memory>

#include "absl/status/status.h"
#include "allreduce/grpc_ring_inlet.h"
#include "allreduce/ring_hello.h"
#include "common/mutex.h"

namespace ringside {

// Thread-safe. It must outlive the server.
class GrpcRingService final : public grpc::CallbackGenericService {
 public:
  // Called from threads of gRPC and from Serve, with the service's lock (but OnLeftFrame and
  // OnLeftEnded): must neither block nor call back.
  class Listener : public GrpcRingInlet::Receiver {
   public:
    virtual void OnLeftAdmitted() = 0;
    // `is_left`: it is the left neighbour, but with another bucket plan, and no other will come.
    virtual void OnCallerRefused(const absl::Status& why, bool is_left) = 0;
  };

  ~GrpcRingService() override;

  // From now on callers are judged. `own` is this rank's answer: itself as sender, its left
  // neighbour as receiver. `listener` outlives the server. At most once.
  void Serve(const RingHello& own, Listener* listener);
  // A frame of the left neighbour has been taken.
  void FrameTaken();
  // Ends all streams in good order.
  void Close();

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override;

 private:
  void Hear(GrpcRingInlet* caller) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void StreamDone(GrpcRingInlet* stream);

  Mutex mutex_;
  RingHello own_ ABSL_GUARDED_BY(mutex_);
  Listener* listener_ ABSL_GUARDED_BY(mutex_) = nullptr;  // set by Serve
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  // Every stream that gRPC still knows, the oldest first.
  std::list<std::unique_ptr<GrpcRingInlet>> streams_ ABSL_GUARDED_BY(mutex_);
  GrpcRingInlet* left_ ABSL_GUARDED_BY(mutex_) = nullptr;  // the admitted one, while it lives
  bool admitted_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_GRPC_RING_SERVICE_H_
