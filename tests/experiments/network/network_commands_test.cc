#include "experiments/network/network_commands.h"

#include <gtest/gtest.h>

#include <set>

#include "common/config/network_spec.h"

namespace ringside {
namespace {

NetworkSpec Spec(const std::string& text) { return ParseNetworkSpec(text).value(); }

// By which packets to other hosts come back when the host's device is gone.
std::string Routes(const std::string& address) {
  return "route add 10.7.0.0/16 dev eth0 scope link src " + address +
         " table local\nroute add local 10.7.0.0/16 dev lo metric 1000 table local\n";
}

TEST(NetworkCommandsTest, EveryHostHasAnAddressOfItsOwn) {
  EXPECT_EQ(HostAddress(0), "10.7.1.1");
  EXPECT_EQ(HostAddress(249), "10.7.1.250");
  EXPECT_EQ(HostAddress(250), "10.7.2.1");
  std::set<std::string> addresses = {ControlAddress()};
  for (int host = 0; host < 256; ++host)
    EXPECT_TRUE(addresses.insert(HostAddress(host)).second) << host;
}

TEST(NetworkCommandsTest, TheBucketHoldsAQuarterOfAMillisecondAndTheQueueASecond) {
  const Shaping gigabit = ShapingOf(Spec("1gbit"));
  EXPECT_EQ(gigabit.bits_per_s, 1'000'000'000);
  EXPECT_EQ(gigabit.burst_bytes, 31'250);
  EXPECT_EQ(gigabit.packet_bytes, 15'625);
  EXPECT_EQ(gigabit.queue_bytes, 125'000'000);
  EXPECT_EQ(ShapingOf(Spec("100mbit")).burst_bytes, 8 << 10);
  EXPECT_EQ(ShapingOf(Spec("10gbit")).burst_bytes, 312'500);
  EXPECT_EQ(ShapingOf(Spec("10gbit")).packet_bytes, 60 << 10);
  EXPECT_EQ(ShapingOf(Spec("100gbit")).queue_bytes, 1 << 30);
  EXPECT_EQ(ShapingOf(Spec("1mbit")).queue_bytes, 1 << 20);
  EXPECT_EQ(ShapingOf(Spec("1ms")).bits_per_s, 0);
}

TEST(NetworkCommandsTest, WithoutLatencyWiresAreVethPairs) {
  EXPECT_EQ(HubDevices(), "link add br0 type bridge\nlink set br0 up\n");
  EXPECT_EQ(HostDevices(Spec("200mbit"), 3, "/proc/1/fd/2"),
            "link set lo up\nlink add eth0 type veth peer name port3 netns /proc/1/fd/2\n"
            "link set eth0 gso_max_size 4096\n"
            "addr add 10.7.1.4/16 dev eth0\nlink set eth0 up\n" +
                Routes("10.7.1.4"));
  EXPECT_EQ(PortDevices(Spec("200mbit"), 2),
            "link set control master br0 up\n"
            "link set port0 gso_max_size 4096\nlink set port0 master br0 up\n"
            "link set port1 gso_max_size 4096\nlink set port1 master br0 up\n");
}

TEST(NetworkCommandsTest, TheControlHostsWireIsAVethPairThatIsNotShaped) {
  const std::string made = "link set lo up\nlink add eth0 type veth peer name control netns /p\n";
  const std::string up = "addr add 10.7.0.1/16 dev eth0\nlink set eth0 up\n" + Routes("10.7.0.1");
  EXPECT_EQ(ControlDevices(Spec("1ms"), "/p"), made + up);
  EXPECT_EQ(ControlDevices(Spec("200mbit,1ms"), "/p"),
            made + "link set eth0 gso_max_size 4096\n" + up);
}

TEST(NetworkCommandsTest, WithLatencyTheDevicesAreThereAlready) {
  EXPECT_EQ(HostDevices(Spec("2ms"), 0, "/proc/1/fd/2"),
            "link set lo up\nlink set eth0 txqueuelen 10000\n"
            "addr add 10.7.1.1/16 dev eth0\nlink set eth0 up\n" +
                Routes("10.7.1.1"));
  EXPECT_EQ(PortDevices(Spec("2ms"), 1),
            "link set control master br0 up\n"
            "link set port0 txqueuelen 10000\nlink set port0 master br0 up\n");
}

TEST(NetworkCommandsTest, BothEndsOfAWireAreShaped) {
  EXPECT_EQ(HostShaping(Spec("1gbit,1ms")),
            "qdisc add dev eth0 root tbf rate 1000000000bit burst 31250 limit 125000000\n");
  EXPECT_EQ(PortShaping(Spec("1gbit,1ms"), 2),
            "qdisc add dev port0 root tbf rate 1000000000bit burst 31250 limit 125000000\n"
            "qdisc add dev port1 root tbf rate 1000000000bit burst 31250 limit 125000000\n");
  EXPECT_EQ(HostShaping(Spec("1ms")), "");
  EXPECT_EQ(PortShaping(Spec("1ms"), 2), "");
}

}  // namespace
}  // namespace ringside
