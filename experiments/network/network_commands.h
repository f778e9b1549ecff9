// An emulated network as commands for iproute2: devices, addresses and shaping. Pure.
//
//   host 0: eth0 --- port0 \                      each "---" is a wire: a pair of veth devices or,
//   host 1: eth0 --- port1 - hub: bridge br0      where there is latency, a pair of TAP devices
//   with host 2: eth0 --- port2 /                      a delay line between them (delay_line.h)
//
// Each host, and the hub, is a network namespace of its own, so names and addresses meet nobody
// else's. A host's eth0 and its port at the hub both shape what leaves them: both directions.
#ifndef RINGSIDE_EXPERIMENTS_NETWORK_NETWORK_COMMANDS_H_
#define RINGSIDE_EXPERIMENTS_NETWORK_NETWORK_COMMANDS_H_

#include <cstdint>
#include <string>

#include "common/config/network_spec.h"

namespace ringside {

constexpr char kHostDevice[] = "eth0";

// Of the bridge, where the coordinator listens.
std::string HubAddress();
// REQUIRES: 0 <= host < 256.
std::string HostAddress(int host);
// "port3"
std::string PortName(int host);

// A token bucket (tc-tbf(8)).
struct Shaping {
  int64_t bits_per_s = 0;  // 0: none
  // What may leave at once after a pause: 250 us of the bandwidth, at least 8 KiB. More would let
  // short messages pass unshaped.
  int64_t burst_bytes = 0;
  // The largest packet that TCP may hand down: half the burst, at most 60 KiB. The other half makes
  // up for timers that are late; with larger packets a link is 10 to 30 % too slow.
  int64_t packet_bytes = 0;
  // What may wait: 1 s of the bandwidth, at least 1 MiB. Hosts that send to one host at once are to
  // wait, not to lose packets.
  int64_t queue_bytes = 0;
};
Shaping ShapingOf(const NetworkSpec& spec);

// Lines for `ip -batch` and `tc -batch`, each for one namespace.
// In the hub, first.
std::string HubDevices();
// In a host; without latency it makes the wire, with the other end in the namespace at `hub_path`.
std::string HostDevices(const NetworkSpec& spec, int host, const std::string& hub_path);
// In the hub, once all hosts have their devices.
std::string PortDevices(const NetworkSpec& spec, int hosts);
// Empty where the bandwidth is not limited.
std::string HostShaping(const NetworkSpec& spec);
std::string PortShaping(const NetworkSpec& spec, int hosts);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_NETWORK_NETWORK_COMMANDS_H_
