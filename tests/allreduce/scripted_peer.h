// Plays worker 1 of a ring of two towards a real worker 0, frame by frame, so that a test can make
// it misbehave.
#ifndef RINGSIDE_TESTS_ALLREDUCE_SCRIPTED_PEER_H_
#define RINGSIDE_TESTS_ALLREDUCE_SCRIPTED_PEER_H_

#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "allreduce/reducer_factory.h"
#include "allreduce/ring_hello.h"
#include "common/check.h"
#include "common/network/socket.h"
#include "tests/testing/ring_cluster.h"

namespace ringside {

class ScriptedPeer {
 public:
  // Connects both ways. reducer() is worker 0's.
  explicit ScriptedPeer(int64_t segment_bytes, absl::Duration step_timeout = absl::Seconds(30)) {
    auto victim_ports = DataPorts::Open(LoopbackBind());
    auto own_listener = ListeningSocket::Bind(LoopbackBind());
    RINGSIDE_CHECK(victim_ports.ok() && own_listener.ok());
    const PeerAddress victim = (*victim_ports)->address();
    absl::StatusOr<MadeReducer> made;
    std::thread thread([&] {
      ReducerConfig config;
      config.group = Group::World(2, 0, kGeneration);
      config.peers = {victim, PeerAddress{{"127.0.0.1", (*own_listener)->port()}, "", {}}};
      config.link = "tcp";
      config.segment_bytes = segment_bytes;
      config.step_timeout = step_timeout;
      made = MakeReducer(*std::move(victim_ports), config);
    });
    const absl::Time deadline = Deadline();
    to_victim_ = *Socket::Connect(victim.tcp, deadline);
    from_victim_ = *(*own_listener)->Accept(deadline);
    RingHello hello;
    hello.generation = kGeneration;
    hello.sender = 1;
    hello.receiver = 0;
    hello.token_sha256 = Sha256Of("");
    hello.plan_sha256 = Sha256Of("");
    EncodedRingHello bytes;
    RINGSIDE_CHECK(WriteFully(to_victim_.get(), Encode(hello), deadline).ok());
    RINGSIDE_CHECK(ReadFully(from_victim_.get(), absl::MakeSpan(bytes), deadline).ok());
    hello.verdict = RingHello::Verdict::kWelcome;
    RINGSIDE_CHECK(WriteFully(from_victim_.get(), Encode(hello), deadline).ok());
    RINGSIDE_CHECK(ReadFully(to_victim_.get(), absl::MakeSpan(bytes), deadline).ok());
    thread.join();
    RINGSIDE_CHECK(made.ok());
    reducer_ = std::move(made->reducer);
  }

  static constexpr uint32_t kGeneration = 3;
  static absl::Time Deadline() { return absl::Now() + absl::Seconds(30); }

  AllReducer* reducer() { return reducer_.get(); }

  // As worker 1 would send it in a well-behaved ring.
  static FrameHeader Frame(FrameKind kind, uint64_t step, uint32_t bucket, uint64_t offset,
                           uint32_t elements) {
    FrameHeader header;
    header.kind = kind;
    header.generation = kGeneration;
    header.step = step;
    header.bucket = bucket;
    header.sender = 1;
    header.offset = offset;
    header.elements = elements;
    return header;
  }

  void SendFrame(const FrameHeader& header, float value = 1) {
    const std::vector<float> payload(header.elements, value);
    SendBytes(EncodeFrameHeader(header));
    SendBytes({reinterpret_cast<const uint8_t*>(payload.data()), payload.size() * sizeof(float)});
  }
  void SendBytes(absl::Span<const uint8_t> bytes) {
    RINGSIDE_CHECK(WriteFully(to_victim_.get(), bytes, Deadline()).ok());
  }
  // Blocks until worker 0 has sent so much.
  void Receive(size_t bytes) {
    std::vector<uint8_t> sink(bytes);
    RINGSIDE_CHECK(ReadFully(from_victim_.get(), absl::MakeSpan(sink), Deadline()).ok());
  }
  void CloseSending() { to_victim_.reset(); }
  void CloseReceiving() { from_victim_.reset(); }

 private:
  std::unique_ptr<Socket> to_victim_;
  std::unique_ptr<Socket> from_victim_;
  std::unique_ptr<AllReducer> reducer_;
};

}  // namespace ringside

#endif  // RINGSIDE_TESTS_ALLREDUCE_SCRIPTED_PEER_H_
