// On this machine's kernel; skipped where it or this process's rights do not suffice.
#include "experiments/network/emulated_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>

#include "common/network/bind_address.h"
#include "common/network/socket.h"
#include "common/status_macros.h"
#include "experiments/network/iproute2.h"
#include "experiments/network/link_probe.h"
#include "experiments/network/network_commands.h"
#include "tests/experiments/network/namespace_witness.h"

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr absl::Duration kTimeout = absl::Seconds(20);
// Others may hold the cores for longer than a probe takes.
constexpr int kTries = 10;

TEST(PairsToProbeTest, AreAllForFewHostsAndNeighboursForMany) {
  EXPECT_THAT(PairsToProbe(1), IsEmpty());
  EXPECT_THAT(PairsToProbe(2), ElementsAre(Pair(0, 1), Pair(1, 0)));
  EXPECT_THAT(PairsToProbe(3), SizeIs(6));
  EXPECT_THAT(PairsToProbe(4),
              ElementsAre(Pair(0, 1), Pair(2, 0), Pair(0, 3), Pair(1, 2), Pair(3, 1), Pair(2, 3)));
  EXPECT_THAT(PairsToProbe(6), SizeIs(15));
  EXPECT_THAT(PairsToProbe(7), SizeIs(7));
  EXPECT_THAT(PairsToProbe(7).back(), Pair(6, 0));
  EXPECT_THAT(PairsToProbe(200), SizeIs(32));
}

struct Stream {
  std::unique_ptr<Socket> sender;
  std::unique_ptr<Socket> receiver;
};

// From host 0 to host 1, of which nothing is read, and that TCP does not give up for a minute.
absl::StatusOr<Stream> StartStream(const EmulatedNetwork& network) {
  Stream stream;
  std::unique_ptr<ListeningSocket> listener;
  const absl::Time deadline = absl::Now() + kTimeout;
  const std::string address = HostAddress(1);
  RINGSIDE_RETURN_IF_ERROR(network.host(1).Run([&]() -> absl::Status {
    const BindAddress bind = {address, address, {}};
    RINGSIDE_ASSIGN_OR_RETURN(listener, ListeningSocket::Bind(bind));
    return absl::OkStatus();
  }));
  RINGSIDE_RETURN_IF_ERROR(network.host(0).Run([&]() -> absl::Status {
    RINGSIDE_ASSIGN_OR_RETURN(stream.sender,
                              Socket::Connect({address, listener->port()}, deadline));
    return absl::OkStatus();
  }));
  RINGSIDE_ASSIGN_OR_RETURN(stream.receiver, listener->Accept(deadline));
  const int patience_ms = 60000;
  for (const Socket* end : {stream.sender.get(), stream.receiver.get()})
    setsockopt(end->fd(), IPPROTO_TCP, TCP_USER_TIMEOUT, &patience_ms, sizeof(patience_ms));
  return stream;
}

// More than the link has taken when it returns.
absl::Status Fill(Socket* sender) {
  std::vector<uint8_t> block(1 << 20);
  const iovec piece = {block.data(), block.size()};
  for (;;) {
    RINGSIDE_ASSIGN_OR_RETURN(const ByteStream::Transfer sent,
                              sender->TryWrite(absl::MakeConstSpan(&piece, 1)));
    if (sent.bytes == 0) return absl::OkStatus();
  }
}

class EmulatedNetworkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const absl::Status possible = CanEmulate();
    if (!possible.ok()) GTEST_SKIP() << possible.message();
  }

  static std::unique_ptr<EmulatedNetwork> Make(const std::string& spec, int hosts,
                                               const std::string& congestion_control = "") {
    EmulatedNetwork::Config config;
    config.spec = ParseNetworkSpec(spec).value();
    config.hosts = hosts;
    config.congestion_control = congestion_control;
    auto network = EmulatedNetwork::Create(std::move(config));
    EXPECT_TRUE(network.ok()) << network.status();
    return *std::move(network);
  }

  static LinkProbe Probe(const EmulatedNetwork& network, int from, int to) {
    const auto probe = ProbeLink(network, from, to);
    EXPECT_TRUE(probe.ok()) << probe.status();
    return probe.value_or(LinkProbe());
  }

  // Within 15 % of what was asked for, which no probe exceeds.
  static void ExpectBandwidth(const EmulatedNetwork& network, int from, int to) {
    const double asked = network.spec().bandwidth_mbit;
    double best = 0;
    for (int i = 0; i < kTries && best < 0.85 * asked; ++i)
      best = std::max(best, Probe(network, from, to).bandwidth_mbit());
    EXPECT_GE(best, 0.85 * asked);
    EXPECT_LE(best, 1.02 * asked);
  }
};

TEST_F(EmulatedNetworkTest, TwoHostsHaveTheBandwidthThatWasAskedForEachWay) {
  const auto network = Make("200mbit", 2);
  ExpectBandwidth(*network, 0, 1);
  ExpectBandwidth(*network, 1, 0);
}

TEST_F(EmulatedNetworkTest, LatencyCountsOncePerWayAndBandwidthHoldsBesideIt) {
  const auto network = Make("200mbit,2ms", 2);
  double round_trip_us = 1e9;
  for (int i = 0; i < kTries && round_trip_us > 5000; ++i) {
    const double measured = Probe(*network, 0, 1).round_trip_us();
    EXPECT_GE(measured, 4000);
    round_trip_us = std::min(round_trip_us, measured);
  }
  EXPECT_LE(round_trip_us, 5000);
  ExpectBandwidth(*network, 0, 1);
  EXPECT_EQ(network->refused_frames(), 0);
}

TEST_F(EmulatedNetworkTest, WithLatencyAloneTheBandwidthIsTheMachines) {
  const auto network = Make("1ms", 2);
  EXPECT_GE(Probe(*network, 0, 1).round_trip_us(), 2000);
  EXPECT_GT(Probe(*network, 0, 1).bandwidth_mbit(), 50);
}

TEST_F(EmulatedNetworkTest, ProbesEndWhenTheyAreToStop) {
  const auto network = Make("1gbit", 3);
  int asked = 0;
  const auto probes = ProbeLinks(*network, [&asked] { return ++asked > 2; });
  ASSERT_TRUE(probes.ok()) << probes.status();
  EXPECT_THAT(*probes, SizeIs(2));
}

TEST_F(EmulatedNetworkTest, HostsHaveTheCongestionControlThatIsStated) {
  const auto network = Make("1gbit", 1, "reno");
  EXPECT_EQ(network->congestion_control(), "reno");
  std::string in_force;
  EXPECT_TRUE(network->host(0)
                  .Run([&in_force] {
                    std::ifstream file("/proc/sys/net/ipv4/tcp_congestion_control");
                    std::getline(file, in_force);
                    return absl::OkStatus();
                  })
                  .ok());
  EXPECT_EQ(in_force, "reno");
  // One that no kernel has.
  const std::string other = Make("1gbit", 1, "carrier_pigeon")->congestion_control();
  EXPECT_TRUE(other == "cubic" || other == "reno") << other;
}

TEST_F(EmulatedNetworkTest, NothingIsLeftOfItAndNothingOfItIsSeenOutside) {
  for (const char* spec : {"1gbit", "1gbit,1ms"}) {
    auto network = Make(spec, 2);
    EXPECT_EQ(if_nametoindex("br0"), 0u);
    EXPECT_EQ(if_nametoindex("port0"), 0u);
    const NamespaceWitness of_host(network->host(1).path());
    const NamespaceWitness of_control_host(network->control_host().path());
    const NamespaceWitness of_hub(network->hub().path());
    EXPECT_TRUE(of_host.there());
    EXPECT_TRUE(of_control_host.there());
    EXPECT_TRUE(of_hub.there());
    network = nullptr;
    EXPECT_TRUE(of_host.AwaitGone(kTakedown)) << spec;
    EXPECT_TRUE(of_control_host.AwaitGone(kTakedown)) << spec;
    EXPECT_TRUE(of_hub.AwaitGone(kTakedown)) << spec;
  }
}

// As when all processes are killed at once, in either order.
TEST_F(EmulatedNetworkTest, NothingIsLeftOfItThoughConnectionsAreCutInMidStream) {
  for (const char* spec : {"50mbit", "50mbit,1ms"}) {
    for (const bool sockets_first : {false, true}) {
      SCOPED_TRACE(absl::StrCat(spec, sockets_first ? ", sockets first" : ", links first"));
      auto network = Make(spec, 2);
      const NamespaceWitness of_sender(network->host(0).path());
      const NamespaceWitness of_receiver(network->host(1).path());
      absl::StatusOr<Stream> stream = StartStream(*network);
      ASSERT_TRUE(stream.ok()) << stream.status();
      const absl::Status filled = Fill(stream->sender.get());
      ASSERT_TRUE(filled.ok()) << filled;
      if (sockets_first) *stream = Stream();
      network = nullptr;
      *stream = Stream();
      EXPECT_TRUE(of_sender.AwaitGone(kTakedown));
      EXPECT_TRUE(of_receiver.AwaitGone(kTakedown));
    }
  }
}

TEST_F(EmulatedNetworkTest, HostsReachTheControlHostAndNotWhereNobodyIs) {
  const auto network = Make("1gbit,1ms", 1);
  std::unique_ptr<ListeningSocket> listener;
  const auto connect = [&network](const std::string& address, int port) {
    return network->host(0).Run([&] {
      const absl::Time deadline = absl::Now() + absl::Seconds(1);
      return Socket::Connect({address, port}, deadline).status();
    });
  };
  const absl::Status listens = network->control_host().Run([&]() -> absl::Status {
    const BindAddress bind = {ControlAddress(), ControlAddress(), {}};
    RINGSIDE_ASSIGN_OR_RETURN(listener, ListeningSocket::Bind(bind));
    return absl::OkStatus();
  });
  ASSERT_TRUE(listens.ok()) << listens;
  const absl::Status reached = connect(ControlAddress(), listener->port());
  EXPECT_TRUE(reached.ok()) << reached;
  const absl::Status nobody = connect(HostAddress(1), listener->port());
  EXPECT_EQ(nobody.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(nobody.message()), Not(HasSubstr("refused")));
}

TEST_F(EmulatedNetworkTest, AToolThatRefusesSaysWhichCommandAndWhy) {
  const auto network = Make("1gbit", 1);
  const absl::Status status =
      RunCommands("ip", network->host(0), "link set lo up\nlink set nobody up\n");
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("`ip link set nobody up` fails: "), HasSubstr("nobody")));
  EXPECT_EQ(RunCommands("no-such-tool", network->host(0), "x").message(),
            "`no-such-tool` is not installed: apt-get install iproute2");
}

TEST(CanEmulateTest, WithoutTheRightItSaysWhatIsMissing) {
  absl::Status status;
  // Capabilities are of a thread.
  std::thread([&status] {
    __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct none[2] = {};
    ASSERT_EQ(syscall(SYS_capset, &header, none), 0);
    status = CanEmulate(ParseNetworkSpec("1gbit").value());
  }).join();
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("--network=1gbit: cannot be emulated here"),
                    HasSubstr("need root, or CAP_SYS_ADMIN and CAP_NET_ADMIN")));
}

}  // namespace
}  // namespace ringside
