// What an emulated network really gives: bandwidth and round trip between its hosts.
#ifndef RINGSIDE_EXPERIMENTS_NETWORK_LINK_PROBE_H_
#define RINGSIDE_EXPERIMENTS_NETWORK_LINK_PROBE_H_

#include <functional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "experiments/network/emulated_network.h"
#include "results.pb.h"

namespace ringside {

// Which (from, to) to probe: up to 3 hosts each to each, up to 6 each pair once, in alternating
// directions, beyond that each host to the next, for the first 32. Pure.
std::vector<std::pair<int, int>> PairsToProbe(int hosts);

// One TCP connection. Round trip: median of some one-byte exchanges. Bandwidth: payload that
// arrives in 0.15 s, once the stream has had time to reach its speed; headers take 3 to 6 % of what
// was asked for. Takes 0.3 s, and longer where the latency exceeds 1 ms. UNAVAILABLE,
// DEADLINE_EXCEEDED: no connection, or nothing arrives; names the hosts.
absl::StatusOr<LinkProbe> ProbeLink(const EmulatedNetwork& network, int from, int to);

// One after the other, until `stop` is true.
absl::StatusOr<std::vector<LinkProbe>> ProbeLinks(const EmulatedNetwork& network,
                                                  const std::function<bool()>& stop);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_NETWORK_LINK_PROBE_H_
