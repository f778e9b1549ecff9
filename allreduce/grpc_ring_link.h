// The ring's link over gRPC: the same frames, in messages of the same kind, over the same transport
// as the parameter server's, so that a report can separate topology from transport.
//
// Made in two phases, because a rank must publish where it listens before it learns who its
// neighbours are:
//   listener = GrpcRingListener::Open(bind);  publish listener->endpoint();  link =
//   GrpcRingLink::Connect(listener, config).
//
// A frame is a message of a 64-byte header and its payload, sent straight out of the lent memory.
// Received payloads are handed out where gRPC put them. At most GrpcRingInlet::kMaxFramesWaiting
// frames wait to be received; beyond that, gRPC's flow control stops the left neighbour.
#ifndef RINGSIDE_ALLREDUCE_GRPC_RING_LINK_H_
#define RINGSIDE_ALLREDUCE_GRPC_RING_LINK_H_

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "allreduce/grpc_ring_outlet.h"
#include "allreduce/grpc_ring_service.h"
#include "allreduce/payload_reader.h"
#include "allreduce/ring_hello.h"
#include "allreduce/ring_link.h"
#include "common/group.h"
#include "common/mutex.h"
#include "common/network/bind_address.h"
#include "common/network/endpoint.h"
#include "common/network/lent_slices.h"

namespace ringside {

// Neighbours may call from now on; they wait until Connect.
class GrpcRingListener {
 public:
  // UNAVAILABLE: no port of the range is free; names address and range.
  static absl::StatusOr<std::unique_ptr<GrpcRingListener>> Open(const BindAddress& bind);
  ~GrpcRingListener();

  // Advertised host and bound port.
  const Endpoint& endpoint() const { return endpoint_; }

 private:
  friend class GrpcRingLink;

  GrpcRingListener(std::unique_ptr<GrpcRingService> service, std::unique_ptr<grpc::Server> server,
                   Endpoint endpoint)
      : service_(std::move(service)), server_(std::move(server)), endpoint_(std::move(endpoint)) {}

  std::unique_ptr<GrpcRingService> service_;  // outlives the server
  std::unique_ptr<grpc::Server> server_;
  const Endpoint endpoint_;
};

// After an error, memory of lent frames must stay as it is until the link has been destroyed: gRPC
// may still hold it.
class GrpcRingLink final : public RingLink,
                           private GrpcRingService::Listener,
                           private GrpcRingOutlet::Listener {
 public:
  struct Config {
    Group group;     // of at least two
    Endpoint right;  // where the right neighbour listens
    std::string token;
    std::string plan_hash;
    absl::Duration connect_timeout = absl::Seconds(10);
  };

  // Blocks until the left neighbour is admitted and the right one has admitted us. UNAVAILABLE or
  // DEADLINE_EXCEEDED, with suspects: a neighbour was not to be reached, or did not call or answer
  // in time; says whom this rank refused meanwhile. PERMISSION_DENIED: the right neighbour refuses
  // the token. FAILED_PRECONDITION: group, generation, wiring or bucket plan differ.
  // INVALID_ARGUMENT: the right neighbour speaks another protocol, or the group is no ring. Other
  // codes: what answers there is no rank of a ring.
  static absl::StatusOr<std::unique_ptr<GrpcRingLink>> Connect(
      std::unique_ptr<GrpcRingListener> listener, const Config& config);
  // Lets what was sent arrive, as long as the right neighbour takes it in good time; then ends
  // streams, connections and server.
  ~GrpcRingLink() override;

  void Send(const FrameHeader& header, absl::Span<const uint8_t> payload) override;
  absl::StatusOr<FrameHeader> ReceiveHeader(absl::Time deadline) override;
  absl::Status ReceivePayload(absl::Span<uint8_t> into, absl::Time deadline) override;
  absl::StatusOr<absl::Span<const uint8_t>> NextPiece(absl::Time deadline) override;
  absl::Status Flush(absl::Time deadline) override;
  void Interrupt() override;
  TrafficCounters traffic() const override;

 private:
  GrpcRingLink(std::unique_ptr<GrpcRingListener> listener, const Config& config);

  absl::Status AwaitNeighbours() ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<grpc::ByteBuffer> NextFrame(absl::Time deadline) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status AwaitAllSent(absl::Time deadline) ABSL_LOCKS_EXCLUDED(mutex_);
  // Notes the first failure, and lets go of everything that is still to be sent.
  absl::Status GiveUp(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);
  void Fail(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckUsable() const ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status InterruptedOrFailed() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status HandshakeTimeout() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status TimeoutError(bool receiving) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  RingHello OwnHello(int receiver) const;
  std::string RightName() const;

  void OnLeftAdmitted() override;
  void OnCallerRefused(const absl::Status& why, bool is_left) override;
  void OnLeftFrame(grpc::ByteBuffer frame) override;
  void OnLeftEnded() override;
  void OnRightAnswer(const absl::StatusOr<RingHello>& answer) override;
  void OnFrameSent(int64_t payload_bytes) override;
  void OnRightEnded(const absl::Status& how) override;

  // Constant after construction.
  const Config config_;
  const int left_rank_;
  const int right_rank_;
  const std::unique_ptr<GrpcRingListener> listener_;
  // Outlives this object if gRPC does not give everything back in time.
  std::unique_ptr<LentSlices> lent_;
  std::unique_ptr<GrpcRingOutlet> outlet_;

  PayloadReader payload_;  // of the frame that is being received; used by the receiving thread

  std::atomic<bool> give_up_{false};  // interrupted_, or there is a failure_

  mutable Mutex mutex_;
  CondVar changed_;
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);  // the first; sticky
  bool interrupted_ ABSL_GUARDED_BY(mutex_) = false;
  bool admitted_ ABSL_GUARDED_BY(mutex_) = false;  // the left neighbour, by us
  bool welcomed_ ABSL_GUARDED_BY(mutex_) = false;  // we, by the right neighbour
  bool left_ended_ ABSL_GUARDED_BY(mutex_) = false;
  bool right_ended_ ABSL_GUARDED_BY(mutex_) = false;
  bool answered_any_ ABSL_GUARDED_BY(mutex_) = false;  // a caller, whatever the answer
  absl::Status last_refusal_ ABSL_GUARDED_BY(mutex_);
  std::deque<grpc::ByteBuffer> arrived_ ABSL_GUARDED_BY(mutex_);
  absl::Time last_received_ ABSL_GUARDED_BY(mutex_);
  absl::Time last_sent_ ABSL_GUARDED_BY(mutex_);
  TrafficCounters traffic_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_GRPC_RING_LINK_H_
