#include "experiments/network/link_probe.h"

#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/coordinator/monotonic_clock.h"
#include "common/network/poll.h"
#include "common/network/socket.h"
#include "common/status_macros.h"
#include "experiments/network/network_commands.h"

namespace ringside {
namespace {

constexpr int kMostHostsBothWays = 3;
constexpr int kMostHostsAllPairs = 6;
constexpr int kMostNeighbours = 32;

constexpr absl::Duration kPatience = absl::Seconds(10);
constexpr int kWarmupExchanges = 3;  // addresses are resolved, both ends are awake
constexpr int kMostExchanges = 20;
constexpr int kFewestExchanges = 5;
constexpr absl::Duration kExchangeTime = absl::Milliseconds(60);
// TCP doubles what is on its way each round trip until the link is full.
constexpr absl::Duration kWarmup = absl::Milliseconds(50);
constexpr int kWarmupRoundTrips = 12;
constexpr absl::Duration kWindow = absl::Milliseconds(150);
constexpr size_t kBlockBytes = 128 << 10;
// What may wait in the sender, beyond what is on its way: else it takes seconds to go away.
constexpr double kSendBufferSeconds = 0.04;
constexpr double kLeastSendBuffer = 128 << 10;
constexpr double kMostSendBuffer = 4 << 20;

struct Connection {
  std::unique_ptr<Socket> sender;
  std::unique_ptr<Socket> receiver;
};

absl::Duration RoundTripAskedFor(const NetworkSpec& spec) {
  return absl::Microseconds(2 * spec.latency_us);
}

absl::StatusOr<Connection> Connect(const EmulatedNetwork& network, int from, int to) {
  Connection connection;
  std::unique_ptr<ListeningSocket> listener;
  const absl::Time deadline = absl::Now() + kPatience;
  RINGSIDE_RETURN_IF_ERROR(network.host(to).Run([&]() -> absl::Status {
    const BindAddress bind = {HostAddress(to), HostAddress(to), {}};
    RINGSIDE_ASSIGN_OR_RETURN(listener, ListeningSocket::Bind(bind));
    return absl::OkStatus();
  }));
  RINGSIDE_RETURN_IF_ERROR(network.host(from).Run([&]() -> absl::Status {
    RINGSIDE_ASSIGN_OR_RETURN(connection.sender,
                              Socket::Connect({HostAddress(to), listener->port()}, deadline));
    return absl::OkStatus();
  }));
  RINGSIDE_ASSIGN_OR_RETURN(connection.receiver, listener->Accept(deadline));
  return connection;
}

absl::StatusOr<double> RoundTripUs(const NetworkSpec& spec, const Connection& connection) {
  const absl::Duration asked = std::max(RoundTripAskedFor(spec), absl::Microseconds(1));
  const int exchanges =
      std::clamp(static_cast<int>(kExchangeTime / asked), kFewestExchanges, kMostExchanges);
  std::vector<double> times;
  uint8_t byte = 0;
  for (int i = 0; i < kWarmupExchanges + exchanges; ++i) {
    const absl::Time deadline = absl::Now() + kPatience;
    const absl::Time start = MonotonicNow();
    for (const auto& [out, in] : {std::pair(connection.sender.get(), connection.receiver.get()),
                                  std::pair(connection.receiver.get(), connection.sender.get())}) {
      RINGSIDE_RETURN_IF_ERROR(WriteFully(out, absl::MakeConstSpan(&byte, 1), deadline));
      RINGSIDE_RETURN_IF_ERROR(ReadFully(in, absl::MakeSpan(&byte, 1), deadline));
    }
    if (i >= kWarmupExchanges) times.push_back(absl::ToDoubleMicroseconds(MonotonicNow() - start));
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

void LimitSendBuffer(const NetworkSpec& spec, const Socket& socket) {
  if (spec.bandwidth_mbit == 0) return;
  const double seconds = kSendBufferSeconds + 2 * absl::ToDoubleSeconds(RoundTripAskedFor(spec));
  const int bytes = static_cast<int>(
      std::clamp(spec.bandwidth_mbit * 1e6 / 8 * seconds, kLeastSendBuffer, kMostSendBuffer));
  setsockopt(socket.fd(), SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

// Sends until `enough`, then closes.
void Flood(std::unique_ptr<Socket> socket, const std::atomic<bool>& enough) {
  std::vector<uint8_t> block(kBlockBytes);
  const iovec piece = {block.data(), block.size()};
  while (!enough) {
    const auto sent = socket->TryWrite(absl::MakeConstSpan(&piece, 1));
    if (!sent.ok()) return;  // the receiver says what is wrong
    if (sent->bytes > 0) continue;
    pollfd entry = {socket->fd(), sent->wait_for, 0};
    if (!PollUntil(absl::MakeSpan(&entry, 1), absl::Now() + absl::Milliseconds(20)).ok()) return;
  }
}

// Reads to the end of the stream, so that nothing of it meets the next probe; sets `enough` when
// the window is over.
absl::StatusOr<double> MbitPerSecond(const NetworkSpec& spec, Socket* socket,
                                     std::atomic<bool>* enough) {
  std::vector<uint8_t> block(kBlockBytes);
  const absl::Duration warmup = kWarmup + kWarmupRoundTrips * RoundTripAskedFor(spec);
  const absl::Time deadline = absl::Now() + warmup + kWindow + kPatience;
  const absl::Time start = MonotonicNow();
  absl::Time counted_from = absl::InfiniteFuture();
  absl::Time counted_to;
  int64_t bytes = 0;
  for (;;) {
    const auto got = socket->TryRead(absl::MakeSpan(block));
    if (!got.ok()) break;
    if (got->bytes == 0) {
      pollfd entry = {socket->fd(), got->wait_for, 0};
      RINGSIDE_ASSIGN_OR_RETURN(const bool ready, PollUntil(absl::MakeSpan(&entry, 1), deadline));
      if (!ready) return absl::DeadlineExceededError("the stream stands still");
      continue;
    }
    const absl::Time now = MonotonicNow();
    if (counted_from == absl::InfiniteFuture()) {
      if (now - start >= warmup) counted_from = now;
    } else if (!*enough) {
      bytes += static_cast<int64_t>(got->bytes);
      counted_to = now;
      *enough = now - counted_from >= kWindow;
    }
  }
  if (!*enough) return absl::UnavailableError("the stream broke");
  return static_cast<double>(bytes) * 8 / 1e6 / absl::ToDoubleSeconds(counted_to - counted_from);
}

absl::StatusOr<LinkProbe> Probe(const EmulatedNetwork& network, int from, int to) {
  RINGSIDE_ASSIGN_OR_RETURN(Connection connection, Connect(network, from, to));
  LinkProbe probe;
  probe.set_from_host(from);
  probe.set_to_host(to);
  RINGSIDE_ASSIGN_OR_RETURN(const double round_trip, RoundTripUs(network.spec(), connection));
  probe.set_round_trip_us(round_trip);
  LimitSendBuffer(network.spec(), *connection.sender);
  // Closed without ceremony: nothing of it is to stay in the hosts.
  const linger at_once = {1, 0};
  setsockopt(connection.sender->fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  std::atomic<bool> enough{false};
  std::thread flood([&connection, &enough] { Flood(std::move(connection.sender), enough); });
  const absl::StatusOr<double> bandwidth =
      MbitPerSecond(network.spec(), connection.receiver.get(), &enough);
  enough = true;
  flood.join();
  RINGSIDE_RETURN_IF_ERROR(bandwidth.status());
  probe.set_bandwidth_mbit(*bandwidth);
  return probe;
}

}  // namespace

std::vector<std::pair<int, int>> PairsToProbe(int hosts) {
  std::vector<std::pair<int, int>> pairs;
  if (hosts > kMostHostsAllPairs) {
    for (int from = 0; from < std::min(hosts, kMostNeighbours); ++from)
      pairs.emplace_back(from, (from + 1) % hosts);
    return pairs;
  }
  for (int a = 0; a < hosts; ++a) {
    for (int b = a + 1; b < hosts; ++b) {
      const bool upwards = (b - a) % 2 == 1;
      if (upwards || hosts <= kMostHostsBothWays) pairs.emplace_back(a, b);
      if (!upwards || hosts <= kMostHostsBothWays) pairs.emplace_back(b, a);
    }
  }
  return pairs;
}

absl::StatusOr<LinkProbe> ProbeLink(const EmulatedNetwork& network, int from, int to) {
  absl::StatusOr<LinkProbe> probe = Probe(network, from, to);
  if (probe.ok()) return probe;
  return absl::Status(probe.status().code(),
                      absl::StrCat("probe of the emulated network from host ", from, " to host ",
                                   to, ": ", probe.status().message()));
}

absl::StatusOr<std::vector<LinkProbe>> ProbeLinks(const EmulatedNetwork& network,
                                                  const std::function<bool()>& stop) {
  std::vector<LinkProbe> probes;
  for (const auto& [from, to] : PairsToProbe(network.hosts())) {
    if (stop()) break;
    RINGSIDE_ASSIGN_OR_RETURN(LinkProbe probe, ProbeLink(network, from, to));
    probes.push_back(std::move(probe));
  }
  return probes;
}

}  // namespace ringside
