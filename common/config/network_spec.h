// The links of a network as people write them: "1gbit,100us". Pure.
//
// What can be written is more than what one machine can emulate: a forecast may be asked for
// 400 Gbit/s.
#ifndef RINGSIDE_COMMON_CONFIG_NETWORK_SPEC_H_
#define RINGSIDE_COMMON_CONFIG_NETWORK_SPEC_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ringside {

struct NetworkSpec {
  double bandwidth_mbit = 0;  // 10^6 bits/s of each host, each way, frames of Ethernet; 0: any
  double latency_us = 0;      // one way between two hosts, added to what the machine takes; 0: none

  bool empty() const { return bandwidth_mbit == 0 && latency_us == 0; }
};

// "1gbit,100us", "200mbit", "5ms"; empty: no network of its own. A bandwidth in kbit, mbit or gbit
// from 0.001kbit to 1000000gbit, a latency in us, ms or s from 0.001us to 1000s, each at most once,
// in any order. INVALID_ARGUMENT: names --network, the part and what would be right.
absl::StatusOr<NetworkSpec> ParseNetworkSpec(absl::string_view text);

// The one text of a network, however it was told: the bandwidth first, in the largest unit of which
// it has at least one. ParseNetworkSpec reads it back.
std::string ToString(const NetworkSpec& spec);

// Whether links of one machine can be made like that: a bandwidth from 100kbit to 100gbit, a
// latency from 1us to 1s, where there is one. INVALID_ARGUMENT: names --network and what would be
// right.
absl::Status CheckEmulable(const NetworkSpec& spec);

// The values of flags that take one of both: "25gbit" is 25,000, "1.5ms" is 1,500. Bounds are those
// above, but that a latency may be 0. INVALID_ARGUMENT: names the flag, which `flag` is, and what
// would be right.
absl::StatusOr<double> ParseBandwidthMbit(absl::string_view flag, absl::string_view text);
absl::StatusOr<double> ParseLatencyUs(absl::string_view flag, absl::string_view text);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CONFIG_NETWORK_SPEC_H_
