#include "experiments/ceilings/socket_ceiling.h"

#include <algorithm>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/coordinator/monotonic_clock.h"
#include "common/network/poll.h"
#include "common/network/socket.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

// For all of one connection: that much is lost where it breaks.
constexpr absl::Duration kPatience = absl::Seconds(2);
constexpr int kWarmupExchanges = 3;  // both threads are awake
constexpr int kMostExchanges = 60;
constexpr absl::Duration kExchangeTime = absl::Milliseconds(15);
constexpr absl::Duration kRoundsTime = absl::Milliseconds(60);
// Each way in one round: a millisecond or a few.
constexpr int64_t kRoundBytes = 4 << 20;
// What is moved at a time, and by how much an end's sending may be ahead of its receiving: bytes
// that wait in the kernel's queues fall out of the caches.
constexpr int64_t kPieceBytes = 256 << 10;

// What the near end asks for by one byte, which the far end sends back first.
constexpr uint8_t kEcho = 1;
constexpr uint8_t kRound = 2;
constexpr uint8_t kEnd = 3;

// One end of the connection.
class End {
 public:
  End(std::unique_ptr<ByteStream> stream, absl::Time deadline)
      : stream_(std::move(stream)), deadline_(deadline), out_(kPieceBytes), in_(kPieceBytes) {}

  absl::Status Write(uint8_t byte) {
    return WriteFully(stream_.get(), absl::MakeConstSpan(&byte, 1), deadline_);
  }
  absl::StatusOr<uint8_t> Read() {
    uint8_t byte = 0;
    RINGSIDE_RETURN_IF_ERROR(ReadFully(stream_.get(), absl::MakeSpan(&byte, 1), deadline_));
    return byte;
  }

  // kRoundBytes each way, at once.
  absl::Status MoveRound() {
    int64_t sent = 0;
    int64_t received = 0;
    while (sent < kRoundBytes || received < kRoundBytes) {
      pollfd wait = {stream_->fd(), 0, 0};
      RINGSIDE_ASSIGN_OR_RETURN(const int64_t written,
                                Send(std::min(kRoundBytes, received + kPieceBytes) - sent, &wait));
      RINGSIDE_ASSIGN_OR_RETURN(const int64_t read, Receive(kRoundBytes - received, &wait));
      sent += written;
      received += read;
      if (written > 0 || read > 0) continue;
      RINGSIDE_ASSIGN_OR_RETURN(const bool ready, PollUntil(absl::MakeSpan(&wait, 1), deadline_));
      if (!ready) return absl::DeadlineExceededError("the connection stands still");
    }
    return absl::OkStatus();
  }

 private:
  // At most `bytes` and one piece; what to wait for where nothing moves is added to `wait`.
  absl::StatusOr<int64_t> Send(int64_t bytes, pollfd* wait) {
    if (bytes <= 0) return 0;
    const iovec piece = {out_.data(), static_cast<size_t>(std::min(bytes, kPieceBytes))};
    RINGSIDE_ASSIGN_OR_RETURN(const ByteStream::Transfer written,
                              stream_->TryWrite(absl::MakeConstSpan(&piece, 1)));
    if (written.bytes == 0) wait->events |= written.wait_for;
    return static_cast<int64_t>(written.bytes);
  }
  absl::StatusOr<int64_t> Receive(int64_t bytes, pollfd* wait) {
    if (bytes <= 0) return 0;
    RINGSIDE_ASSIGN_OR_RETURN(const ByteStream::Transfer read,
                              stream_->TryRead(absl::MakeSpan(in_).subspan(
                                  0, static_cast<size_t>(std::min(bytes, kPieceBytes)))));
    if (read.bytes == 0) wait->events |= read.wait_for;
    return static_cast<int64_t>(read.bytes);
  }

  const std::unique_ptr<ByteStream> stream_;
  const absl::Time deadline_;
  std::vector<uint8_t> out_;
  std::vector<uint8_t> in_;
};

// The far end: does what it is asked for until the end, or until the connection breaks, which the
// near end tells of.
void Answer(End* end) {
  for (;;) {
    const absl::StatusOr<uint8_t> asked = end->Read();
    if (!asked.ok() || *asked == kEnd || !end->Write(*asked).ok()) return;
    if (*asked == kRound && !end->MoveRound().ok()) return;
  }
}

// Sends a byte and waits until it is back.
absl::Status AskFor(uint8_t what, End* end) {
  RINGSIDE_RETURN_IF_ERROR(end->Write(what));
  return end->Read().status();
}

absl::StatusOr<double> RoundTripUs(End* end) {
  std::vector<double> times;
  const absl::Time start = MonotonicNow();
  for (int i = 0; i < kWarmupExchanges + kMostExchanges; ++i) {
    const absl::Time before = MonotonicNow();
    RINGSIDE_RETURN_IF_ERROR(AskFor(kEcho, end));
    const absl::Time after = MonotonicNow();
    if (i >= kWarmupExchanges) times.push_back(absl::ToDoubleMicroseconds(after - before));
    if (!times.empty() && after - start > kExchangeTime) break;
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

absl::StatusOr<double> BytesPerSecond(End* end) {
  double best = 0;
  const absl::Time start = MonotonicNow();
  do {
    RINGSIDE_RETURN_IF_ERROR(AskFor(kRound, end));
    const absl::Time before = MonotonicNow();
    RINGSIDE_RETURN_IF_ERROR(end->MoveRound());
    const double seconds = absl::ToDoubleSeconds(MonotonicNow() - before);
    best = std::max(best, static_cast<double>(kRoundBytes) / std::max(seconds, 1e-9));
  } while (MonotonicNow() - start < kRoundsTime);
  return best;
}

absl::StatusOr<SocketCeiling> Measure(End* end) {
  SocketCeiling ceiling;
  RINGSIDE_ASSIGN_OR_RETURN(const double round_trip_us, RoundTripUs(end));
  RINGSIDE_ASSIGN_OR_RETURN(const double bytes_per_s, BytesPerSecond(end));
  RINGSIDE_RETURN_IF_ERROR(end->Write(kEnd));
  ceiling.set_round_trip_us(round_trip_us);
  ceiling.set_bytes_per_s(bytes_per_s);
  return ceiling;
}

// With the system's congestion control where `congestion_control` is empty.
absl::StatusOr<SocketCeiling> ProbeTcpWith(const std::string& congestion_control,
                                           const BindAddress& bind) {
  const absl::Time deadline = absl::Now() + kPatience;
  RINGSIDE_ASSIGN_OR_RETURN(const std::unique_ptr<ListeningSocket> listener,
                            ListeningSocket::Bind(bind));
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<Socket> near,
                            Socket::Connect({bind.advertise_host, listener->port()}, deadline));
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<Socket> far, listener->Accept(deadline));
  if (!congestion_control.empty()) {
    RINGSIDE_RETURN_IF_ERROR(near->SetCongestionControl(congestion_control));
    RINGSIDE_RETURN_IF_ERROR(far->SetCongestionControl(congestion_control));
  }
  return ProbeConnection(std::move(near), std::move(far));
}

}  // namespace

absl::StatusOr<SocketCeiling> ProbeConnection(std::unique_ptr<ByteStream> near,
                                              std::unique_ptr<ByteStream> far) {
  const absl::Time deadline = absl::Now() + kPatience;
  std::thread peer([stream = std::move(far), deadline]() mutable {
    End end(std::move(stream), deadline);
    Answer(&end);
  });
  absl::StatusOr<SocketCeiling> ceiling;
  {
    // Closed before the peer is waited for, who then ends whatever has happened.
    End end(std::move(near), deadline);
    ceiling = Measure(&end);
  }
  peer.join();
  return ceiling;
}

absl::StatusOr<SocketCeiling> ProbeTcp(const BindAddress& bind) {
  RINGSIDE_ASSIGN_OR_RETURN(SocketCeiling best, ProbeTcpWith("", bind));
  const absl::StatusOr<SocketCeiling> other = ProbeTcpWith("cubic", bind);
  if (!other.ok()) return best;  // the kernel has no such algorithm, or does not allow it
  best.set_bytes_per_s(std::max(best.bytes_per_s(), other->bytes_per_s()));
  best.set_round_trip_us(std::min(best.round_trip_us(), other->round_trip_us()));
  return best;
}

absl::StatusOr<SocketCeiling> ProbeUnixSocket() {
  const absl::Time deadline = absl::Now() + kPatience;
  RINGSIDE_ASSIGN_OR_RETURN(const std::unique_ptr<ListeningSocket> listener,
                            ListeningSocket::BindLocal());
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<Socket> near, Socket::ConnectLocal(listener->name()));
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<Socket> far, listener->Accept(deadline));
  return ProbeConnection(std::move(near), std::move(far));
}

}  // namespace ringside
