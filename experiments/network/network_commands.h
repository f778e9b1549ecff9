// An emulated network as commands for iproute2: devices, addresses and shaping. Pure.
//
//   host 0: eth0 --- port0 \                      each "---" is a wire: a pair of veth devices or,
//   host 1: eth0 --- port1 - hub: bridge br0      where there is latency, a pair of TAP devices
//   host 2: eth0 --- port2 /       |              with a delay line between them (delay_line.h)
//   control host: eth0 --- control +              this one is always a pair of veth devices
//
// Each host, the control host and the hub is a network namespace of its own, so names and addresses
// meet nobody else's. A host's eth0 and its port at the hub both shape what leaves them: both
// directions. The control host's wire is not shaped.
//
// Nobody makes a socket in the hub. So it ends with the process that has made the network, all
// wires end with it, and then hosts answer for each other (AnswerForLostHosts in the .cc file):
// what connections of killed processes still have to say is refused at once. Else it would keep
// their namespaces for as long as TCP tries to say it.
#ifndef RINGSIDE_EXPERIMENTS_NETWORK_NETWORK_COMMANDS_H_
#define RINGSIDE_EXPERIMENTS_NETWORK_NETWORK_COMMANDS_H_

#include <cstdint>
#include <string>

#include "common/config/network_spec.h"

namespace ringside {

constexpr char kHostDevice[] = "eth0";

// Of the control host, where the coordinator listens.
std::string ControlAddress();
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
// In the control host; makes the wire, with the other end in the namespace at `hub_path`.
std::string ControlDevices(const NetworkSpec& spec, const std::string& hub_path);
// In a host; without latency it makes the wire, as ControlDevices does.
std::string HostDevices(const NetworkSpec& spec, int host, const std::string& hub_path);
// In the hub, once all others have their devices.
std::string PortDevices(const NetworkSpec& spec, int hosts);
// Empty where the bandwidth is not limited.
std::string HostShaping(const NetworkSpec& spec);
std::string PortShaping(const NetworkSpec& spec, int hosts);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_NETWORK_NETWORK_COMMANDS_H_
