#include "experiments/report/network_table.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "experiments/report/number_text.h"
#include "experiments/report/statistics.h"

namespace ringside {
namespace {

// A link that carried less than this share of what was asked for, or more than that, was another.
constexpr double kLeastShare = 0.85;
constexpr double kMostShare = 1.05;

// All runs on one network.
struct Links {
  int64_t runs = 0;
  std::set<int> hosts;
  std::set<std::string> congestion_controls;
  std::vector<double> bandwidths_mbit;
  std::vector<double> round_trips_us;
  std::string slowest;  // link, and whose
  double slowest_mbit = 0;
};

std::string HostName(const NetworkReport& network, int host) {
  if (host < 0 || host >= network.hosts_size()) return absl::StrCat("host ", host);
  return network.hosts(host);
}

void Add(const RunResult& run, Links* links) {
  const NetworkReport& network = run.network();
  ++links->runs;
  links->hosts.insert(network.hosts_size());
  if (!network.congestion_control().empty())
    links->congestion_controls.insert(network.congestion_control());
  for (const LinkProbe& probe : network.probes()) {
    if (probe.round_trip_us() > 0) links->round_trips_us.push_back(probe.round_trip_us());
    if (probe.bandwidth_mbit() <= 0) continue;
    links->bandwidths_mbit.push_back(probe.bandwidth_mbit());
    if (links->slowest.empty() || probe.bandwidth_mbit() < links->slowest_mbit) {
      links->slowest_mbit = probe.bandwidth_mbit();
      links->slowest = absl::StrCat(HostName(network, probe.from_host()), " → ",
                                    HostName(network, probe.to_host()));
    }
  }
}

// "192" with the note "190 to 193"; no value where nothing was measured.
Field Measured(const std::vector<double>& values, const std::string& unit) {
  if (values.empty()) return NoValue();
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return {absl::StrCat(RoundedNumber(Median(values)), " ", unit), Field::Kind::kText,
          absl::StrCat(RoundedNumber(*least), " to ", RoundedNumber(*most))};
}

Field ShareField(const std::vector<double>& values, double asked) {
  if (values.empty() || asked <= 0) return NoValue();
  const double share = Median(values) / asked;
  const bool as_asked = share >= kLeastShare && share <= kMostShare;
  return {Percent(share, 1), as_asked ? Field::Kind::kPass : Field::Kind::kFail};
}

std::string Asked(double value, const std::string& unit, const std::string& none) {
  return value > 0 ? absl::StrCat(RoundedNumber(value), " ", unit) : none;
}

}  // namespace

Table NetworkTable(const ComparisonResult& comparison) {
  std::map<std::pair<double, double>, Links> networks;
  for (const RunResult& run : comparison.runs()) {
    if (!run.has_network()) continue;
    Add(run, &networks[{run.network().bandwidth_mbit(), run.network().latency_us()}]);
  }
  Table table;
  table.columns = {
      {"Asked: bandwidth", true}, {"Got", true},    {"Got ÷ asked", true}, {"Asked: latency", true},
      {"Round trip", true},       {"Slowest link"}, {"Hosts", true},       {"Runs", true},
      {"Congestion control"}};
  for (const auto& [asked, links] : networks) {
    std::vector<std::string> hosts;
    for (const int count : links.hosts) hosts.push_back(absl::StrCat(count));
    table.rows.push_back({
        {Asked(asked.first, "Mbit/s", "not shaped")},
        Measured(links.bandwidths_mbit, "Mbit/s"),
        ShareField(links.bandwidths_mbit, asked.first),
        {Asked(asked.second, "µs", "none added")},
        Measured(links.round_trips_us, "µs"),
        links.slowest.empty() ? NoValue()
                              : Field{links.slowest, Field::Kind::kText,
                                      absl::StrCat(RoundedNumber(links.slowest_mbit), " Mbit/s")},
        {absl::StrJoin(hosts, ", ")},
        {WholeNumber(links.runs)},
        links.congestion_controls.empty() ? NoValue()
                                          : Field{absl::StrJoin(links.congestion_controls, ", ")},
    });
  }
  return table;
}

}  // namespace ringside
