// What emulated networks give on this machine, as the table of docs/network.md: for each network
// named, or else for those of the page, two hosts, and probes (link_probe.h) both ways.
#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "common/config/network_spec.h"
#include "common/status_macros.h"
#include "experiments/network/emulated_network.h"
#include "experiments/network/link_probe.h"

namespace ringside {
namespace {

constexpr int kProbesEachWay = 5;

std::vector<std::string> NetworksOfThePage() {
  return {"100mbit",     "200mbit",   "1gbit",       "10gbit",     "25gbit",
          "200mbit,2ms", "1gbit,1ms", "1gbit,100us", "5gbit,100us"};
}

// "191.2 (166.0 to 191.4)": median, least and most.
std::string Spread(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return absl::StrFormat("%.1f (%.1f to %.1f)", values[values.size() / 2], values.front(),
                         values.back());
}

absl::StatusOr<std::string> Row(const std::string& text) {
  EmulatedNetwork::Config config;
  RINGSIDE_ASSIGN_OR_RETURN(config.spec, ParseNetworkSpec(text));
  if (config.spec.empty()) return absl::InvalidArgumentError("a network's text is empty");
  RINGSIDE_RETURN_IF_ERROR(CheckEmulable(config.spec));
  config.hosts = 2;
  RINGSIDE_ASSIGN_OR_RETURN(const auto network, EmulatedNetwork::Create(std::move(config)));
  std::vector<double> bandwidths;
  std::vector<double> round_trips;
  for (int i = 0; i < 2 * kProbesEachWay; ++i) {
    RINGSIDE_ASSIGN_OR_RETURN(const LinkProbe probe, ProbeLink(*network, i % 2, 1 - i % 2));
    bandwidths.push_back(probe.bandwidth_mbit());
    round_trips.push_back(probe.round_trip_us());
  }
  return absl::StrFormat("| %s | %s | %s |", ToString(network->spec()), Spread(bandwidths),
                         Spread(round_trips));
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) {
  std::vector<std::string> networks(argv + 1, argv + argc);
  if (networks.empty()) networks = ringside::NetworksOfThePage();
  puts("| asked | TCP payload, Mbit/s (least to most) | round trip, us (least to most) |");
  puts("| --- | --- | --- |");
  for (const std::string& network : networks) {
    const absl::StatusOr<std::string> row = ringside::Row(network);
    if (!row.ok()) {
      fprintf(stderr, "%s\n", std::string(row.status().message()).c_str());
      return 1;
    }
    puts(row->c_str());
    fflush(stdout);
  }
  return 0;
}
