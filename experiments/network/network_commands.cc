#include "experiments/network/network_commands.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace ringside {
namespace {

constexpr char kBridge[] = "br0";
constexpr char kControlPort[] = "control";
constexpr char kAllAddresses[] = "10.7.0.0/16";
constexpr int kHostsPerBlock = 250;
constexpr double kBurstSeconds = 250e-6;
constexpr double kQueueSeconds = 1;
constexpr int64_t kLeastBurst = 8 << 10;
// A packet may be 64 KiB, with a header for every 1,500 bytes that it is to be cut to.
constexpr int64_t kMostPacket = 60 << 10;
constexpr int64_t kLeastQueue = 1 << 20;
constexpr int64_t kMostQueue = 1 << 30;
// Frames that a TAP device holds until its reader comes; beyond, it would drop them.
constexpr int kTapQueueFrames = 10000;

// In a host: a pair of devices, the other one, `port`, in the hub.
std::string VethLine(const std::string& port, const std::string& hub_path) {
  return absl::StrCat("link add ", kHostDevice, " type veth peer name ", port, " netns ", hub_path,
                      "\n");
}

std::string PacketLine(const NetworkSpec& spec, const std::string& device) {
  if (spec.bandwidth_mbit == 0) return "";
  return absl::StrCat("link set ", device, " gso_max_size ", ShapingOf(spec).packet_bytes, "\n");
}

// What both ends of a wire need.
std::string EndSettings(const NetworkSpec& spec, const std::string& device) {
  std::string lines = PacketLine(spec, device);
  if (spec.latency_us > 0)
    absl::StrAppend(&lines, "link set ", device, " txqueuelen ", kTapQueueFrames, "\n");
  return lines;
}

// Of a host whose device is up and has `address`. While there is the device, the first route does
// what that of the address does. It goes with the device, and then all addresses of the network are
// this host's own: packets to others come back, TCP knows of no such connection, and its reset ends
// the one that has sent them. Both are in the table that is asked first, and that also tells which
// addresses the host may send from.
std::string AnswerForLostHosts(const std::string& address) {
  return absl::StrCat("route add ", kAllAddresses, " dev ", kHostDevice, " scope link src ",
                      address, " table local\nroute add local ", kAllAddresses,
                      " dev lo metric 1000 table local\n");
}

std::string BringUp(const std::string& address) {
  return absl::StrCat("addr add ", address, "/16 dev ", kHostDevice, "\nlink set ", kHostDevice,
                      " up\n", AnswerForLostHosts(address));
}

std::string ShapingLine(const NetworkSpec& spec, const std::string& device) {
  const Shaping shaping = ShapingOf(spec);
  if (shaping.bits_per_s == 0) return "";
  return absl::StrCat("qdisc add dev ", device, " root tbf rate ", shaping.bits_per_s, "bit burst ",
                      shaping.burst_bytes, " limit ", shaping.queue_bytes, "\n");
}

}  // namespace

std::string ControlAddress() { return "10.7.0.1"; }

std::string HostAddress(int host) {
  return absl::StrCat("10.7.", 1 + host / kHostsPerBlock, ".", 1 + host % kHostsPerBlock);
}

std::string PortName(int host) { return absl::StrCat("port", host); }

Shaping ShapingOf(const NetworkSpec& spec) {
  Shaping shaping;
  if (spec.bandwidth_mbit <= 0) return shaping;
  shaping.bits_per_s = std::llround(spec.bandwidth_mbit * 1e6);
  const double bytes_per_s = spec.bandwidth_mbit * 1e6 / 8;
  shaping.burst_bytes = std::max<int64_t>(std::llround(bytes_per_s * kBurstSeconds), kLeastBurst);
  shaping.packet_bytes = std::min(shaping.burst_bytes / 2, kMostPacket);
  shaping.queue_bytes =
      std::clamp<int64_t>(std::llround(bytes_per_s * kQueueSeconds), kLeastQueue, kMostQueue);
  return shaping;
}

std::string HubDevices() {
  return absl::StrCat("link add ", kBridge, " type bridge\nlink set ", kBridge, " up\n");
}

std::string ControlDevices(const NetworkSpec& spec, const std::string& hub_path) {
  return absl::StrCat("link set lo up\n", VethLine(kControlPort, hub_path),
                      PacketLine(spec, kHostDevice), BringUp(ControlAddress()));
}

std::string HostDevices(const NetworkSpec& spec, int host, const std::string& hub_path) {
  return absl::StrCat("link set lo up\n",
                      spec.latency_us == 0 ? VethLine(PortName(host), hub_path) : "",
                      EndSettings(spec, kHostDevice), BringUp(HostAddress(host)));
}

std::string PortDevices(const NetworkSpec& spec, int hosts) {
  const auto join = [](const std::string& port) {
    return absl::StrCat("link set ", port, " master ", kBridge, " up\n");
  };
  std::string lines = join(kControlPort);
  for (int host = 0; host < hosts; ++host)
    absl::StrAppend(&lines, EndSettings(spec, PortName(host)), join(PortName(host)));
  return lines;
}

std::string HostShaping(const NetworkSpec& spec) { return ShapingLine(spec, kHostDevice); }

std::string PortShaping(const NetworkSpec& spec, int hosts) {
  std::string lines;
  for (int host = 0; host < hosts; ++host)
    absl::StrAppend(&lines, ShapingLine(spec, PortName(host)));
  return lines;
}

}  // namespace ringside
