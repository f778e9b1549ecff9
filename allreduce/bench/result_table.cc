#include "allreduce/bench/result_table.h"

#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "allreduce/bench/bench_config.h"
#include "allreduce/bench/measurement.h"

namespace ringside {
namespace {

// "ok", "off", or "-" where nobody counts.
std::string BytesText(const AllReduceMeasurement& measurement) {
  if (!measurement.traffic_counted()) return "-";
  return TrafficAsExpected(measurement) ? "ok" : "off";
}

std::string WrongText(const AllReduceMeasurement& measurement) {
  return measurement.verified() ? absl::StrCat(measurement.wrong()) : "-";
}

std::string ModeText(const AllReduceMeasurement& measurement) {
  return measurement.in_place() ? "in" : "out";
}

std::string Number(double value) { return absl::StrFormat("%.9g", value); }

}  // namespace

std::string TableHeading() {
  return absl::StrFormat(
      "%-24s %2s %6s %10s %5s %4s %11s %8s %8s %6s %11s %11s %11s %6s %6s  %-8s %5s\n", "contender",
      "N", "size", "count", "type", "mode", "time(us)", "algbw", "busbw", "#wrong", "min(us)",
      "p50(us)", "p99(us)", "cv", "share", "of", "bytes");
}

std::string TableRows(const std::vector<AllReduceMeasurement>& measurements) {
  std::string text;
  for (const AllReduceMeasurement& each : measurements) {
    absl::StrAppendFormat(
        &text,
        "%-24s %2d %6s %10d %5s %4s %11.2f %8.3f %8.3f %6s %11.2f %11.2f %11.2f %6.3f %6s  %-8s "
        "%5s\n",
        each.contender(), each.world_size(), SizeText(each.bytes()), each.elements(), each.type(),
        ModeText(each), each.time_us(), each.algbw_gb_per_s(), each.busbw_gb_per_s(),
        WrongText(each), each.min_us(), each.p50_us(), each.p99_us(), each.cv(),
        each.ceiling_share() > 0 ? absl::StrFormat("%.3f", each.ceiling_share()) : "-",
        each.ceiling().empty() ? "-" : each.ceiling(), BytesText(each));
  }
  return text;
}

std::string TableFacts(const std::vector<AllReduceMeasurement>& measurements) {
  // Contenders in their order; for each its sets of facts, and the world sizes that share one.
  std::vector<std::string> order;
  std::map<std::string, std::map<std::string, std::set<int>>> world_sizes;
  for (const AllReduceMeasurement& each : measurements) {
    if (each.facts().empty()) continue;
    const std::map<std::string, std::string> facts(each.facts().begin(), each.facts().end());
    if (world_sizes.count(each.contender()) == 0) order.push_back(each.contender());
    world_sizes[each.contender()][absl::StrJoin(facts, ", ", absl::PairFormatter("="))].insert(
        each.world_size());
  }
  std::string text;
  for (const std::string& contender : order) {
    for (const auto& [facts, sizes] : world_sizes[contender]) {
      absl::StrAppend(&text, "# ", contender, ", N=", absl::StrJoin(sizes, ","), ": ", facts, "\n");
    }
  }
  return text;
}

std::string Csv(const std::vector<AllReduceMeasurement>& measurements) {
  std::string text =
      "contender,world_size,bytes,elements,type,mode,time_us,algbw_gb_per_s,busbw_gb_per_s,wrong,"
      "min_us,p50_us,p99_us,cv,samples,ceiling,ceiling_share,payload_bytes_sent,"
      "expected_payload_bytes_sent,messages_sent,expected_messages_sent,bytes_check\n";
  for (const AllReduceMeasurement& each : measurements) {
    absl::StrAppend(&text,
                    absl::StrJoin({each.contender(),
                                   absl::StrCat(each.world_size()),
                                   absl::StrCat(each.bytes()),
                                   absl::StrCat(each.elements()),
                                   each.type(),
                                   ModeText(each),
                                   Number(each.time_us()),
                                   Number(each.algbw_gb_per_s()),
                                   Number(each.busbw_gb_per_s()),
                                   WrongText(each),
                                   Number(each.min_us()),
                                   Number(each.p50_us()),
                                   Number(each.p99_us()),
                                   Number(each.cv()),
                                   absl::StrCat(each.samples()),
                                   each.ceiling(),
                                   Number(each.ceiling_share()),
                                   absl::StrCat(each.traffic().payload_bytes_sent()),
                                   absl::StrCat(each.expected_traffic().payload_bytes_sent()),
                                   absl::StrCat(each.traffic().messages_sent()),
                                   absl::StrCat(each.expected_traffic().messages_sent()),
                                   BytesText(each)},
                                  ","),
                    "\n");
  }
  return text;
}

}  // namespace ringside
