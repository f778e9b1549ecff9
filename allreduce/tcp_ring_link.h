// The ring's link over TCP sockets of its own, so that congestion control can be chosen and
// reported.
//
// Made in two phases, because a rank must publish where it listens before it learns who its
// neighbours are:
//   listener = TcpRingListener::Open(bind);  publish listener->endpoint();  link =
//   TcpRingLink::Connect(listener, config).
#ifndef RINGSIDE_ALLREDUCE_TCP_RING_LINK_H_
#define RINGSIDE_ALLREDUCE_TCP_RING_LINK_H_

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "allreduce/ring_link.h"
#include "common/group.h"
#include "common/network/bind_address.h"
#include "common/network/byte_stream.h"
#include "common/network/endpoint.h"
#include "common/network/socket.h"

namespace ringside {

// Neighbours may connect from now on; they wait in the kernel's queue until Connect.
class TcpRingListener {
 public:
  // UNAVAILABLE: no port of the range is free; names address and range.
  static absl::StatusOr<std::unique_ptr<TcpRingListener>> Open(const BindAddress& bind);

  // Advertised host and bound port.
  const Endpoint& endpoint() const { return endpoint_; }
  ListeningSocket* socket() { return socket_.get(); }

 private:
  TcpRingListener(std::unique_ptr<ListeningSocket> socket, Endpoint endpoint)
      : socket_(std::move(socket)), endpoint_(std::move(endpoint)) {}

  const std::unique_ptr<ListeningSocket> socket_;
  const Endpoint endpoint_;
};

class TcpRingLink final : public RingLink {
 public:
  struct Config {
    Group group;     // of at least two
    Endpoint right;  // where the right neighbour listens
    std::string token;
    std::string plan_hash;
    std::string congestion_control;  // empty: the system's default
    // All ranks listen already when their endpoints are known, so this need not be longer than the
    // lease.
    absl::Duration connect_timeout = absl::Seconds(10);
    absl::Duration hello_timeout = absl::Seconds(5);  // after which a silent caller is dropped
  };

  // Blocks until both neighbours are connected and agree on token, group, generation, wiring and
  // plan. Errors as RingHandshake::Run has them. The listener is closed in any case.
  static absl::StatusOr<std::unique_ptr<TcpRingLink>> Connect(
      std::unique_ptr<TcpRingListener> listener, Config config);

  // In force on the sending connection, e.g. "cubic".
  const std::string& congestion_control() const { return congestion_control_; }

  void Send(const FrameHeader& header, absl::Span<const float> payload) override;
  absl::StatusOr<FrameHeader> ReceiveHeader(absl::Time deadline) override;
  absl::Status ReceivePayload(absl::Span<float> payload, absl::Time deadline) override;
  absl::Status Flush(absl::Time deadline) override;
  void Interrupt() override;
  TrafficCounters traffic() const override;

 private:
  struct Outgoing {
    EncodedFrameHeader header;
    absl::Span<const uint8_t> payload;
    size_t size() const { return header.size() + payload.size(); }
  };

  TcpRingLink(const Group& group, std::unique_ptr<ByteStream> left,
              std::unique_ptr<ByteStream> right, FileDescriptor interrupt_event,
              std::string congestion_control);

  // Fills `into` from the left, and sends meanwhile. An empty `into` makes it send only, until all
  // has left.
  absl::Status Move(absl::Span<uint8_t> into, absl::Time deadline);
  // Sends what the connection takes at once.
  absl::Status SendSome();
  void CountSent(size_t bytes);
  bool HasToSend() const { return first_unsent_ < outgoing_.size(); }
  absl::Status Wait(bool receiving, absl::Time deadline);
  absl::Status TimeoutError(bool receiving) const;

  // Constant after construction.
  const int left_rank_;
  const int right_rank_;
  const std::unique_ptr<ByteStream> left_;
  const std::unique_ptr<ByteStream> right_;
  const FileDescriptor interrupt_event_;  // readable once interrupted, so that poll wakes
  const std::string congestion_control_;

  // Used by the one thread that sends and receives.
  std::vector<Outgoing>
      outgoing_;  // from first_unsent_ on; emptied when all has left, its memory kept
  size_t first_unsent_ = 0;
  size_t sent_of_first_ = 0;  // bytes of outgoing_[first_unsent_]
  short left_wait_ = 0;       // what TryRead and TryWrite wait for
  short right_wait_ = 0;
  absl::Time last_received_;
  absl::Time last_sent_;

  std::atomic<bool> interrupted_{false};
  std::atomic<int64_t> payload_bytes_sent_{0};
  std::atomic<int64_t> payload_bytes_received_{0};
  std::atomic<int64_t> messages_sent_{0};
  std::atomic<int64_t> messages_received_{0};
};

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_TCP_RING_LINK_H_
