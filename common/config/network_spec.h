// What --network says: the links of an emulated network. Pure.
#ifndef RINGSIDE_COMMON_CONFIG_NETWORK_SPEC_H_
#define RINGSIDE_COMMON_CONFIG_NETWORK_SPEC_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ringside {

struct NetworkSpec {
  double bandwidth_mbit = 0;  // 10^6 bits/s of each host, each way, frames of Ethernet; 0: any
  double latency_us = 0;      // one way between two hosts, added to what the machine takes; 0: none

  bool empty() const { return bandwidth_mbit == 0 && latency_us == 0; }
};

// "1gbit,100us", "200mbit", "5ms"; empty: no emulated network. A bandwidth in kbit, mbit or gbit
// from 100kbit to 100gbit, a latency in us, ms or s from 1us to 1s, each at most once, in any
// order. INVALID_ARGUMENT: names --network, the part and what would be right.
absl::StatusOr<NetworkSpec> ParseNetworkSpec(absl::string_view text);

// The one text of a network, however it was told: the bandwidth first, in the largest unit of which
// it has at least one. ParseNetworkSpec reads it back.
std::string ToString(const NetworkSpec& spec);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CONFIG_NETWORK_SPEC_H_
