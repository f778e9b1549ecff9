#include "worker/bench/ps_tables.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "allreduce/bench/bench_config.h"

namespace ringside {
namespace {

std::string WrongText(const PsMeasurement& measurement) {
  return measurement.verified() ? absl::StrCat(measurement.wrong()) : "-";
}

std::string Number(double value) { return absl::StrFormat("%.9g", value); }

double MiB(int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

}  // namespace

std::string PsTableHeading() {
  return absl::StrFormat("%-22s %5s %6s %11s %7s %6s %11s %11s %11s %6s %7s %6s  %s\n", "contender",
                         "W/S", "size", "time(us)", "GB/s", "#wrong", "min(us)", "p50(us)",
                         "p99(us)", "cv", "samples", "share", "of");
}

std::string PsTableRows(const std::vector<PsMeasurement>& measurements) {
  std::string text;
  for (const PsMeasurement& each : measurements) {
    absl::StrAppendFormat(
        &text, "%-22s %5s %6s %11.2f %7.3f %6s %11.2f %11.2f %11.2f %6.3f %7d %6s  %s\n",
        each.contender(), absl::StrCat(each.workers(), "/", each.shards()), SizeText(each.bytes()),
        each.time_us(), each.gb_per_s(), WrongText(each), each.min_us(), each.p50_us(),
        each.p99_us(), each.cv(), each.samples(),
        each.ceiling_share() > 0 ? absl::StrFormat("%.3f", each.ceiling_share()) : "-",
        each.ceiling().empty() ? "-" : each.ceiling());
  }
  return text;
}

std::string PsMemoryTable(const std::vector<PsShardMemory>& memory) {
  if (memory.empty()) return "";
  std::string text =
      absl::StrFormat("%-22s %5s %6s %5s %14s %12s %12s %12s\n", "shard memory (MiB)", "W/S",
                      "size", "shard", "peak RSS", "arenas", "parked", "beyond");
  for (const PsShardMemory& each : memory) {
    absl::StrAppendFormat(&text, "%-22s %5s %6s %5d %14.1f %12.1f %12.1f %12.1f\n",
                          each.contender(), absl::StrCat(each.workers(), "/", each.shards()),
                          SizeText(each.bytes()), each.shard(), MiB(each.peak_rss_bytes()),
                          MiB(each.arena_bytes()), MiB(each.parked_bytes()),
                          MiB(each.excess_bytes()));
  }
  return text;
}

std::string PsCsv(const std::vector<PsMeasurement>& measurements) {
  std::string text =
      "contender,link,workers,shards,bytes,time_us,gb_per_s,wrong,min_us,p50_us,p99_us,cv,samples,"
      "ceiling,ceiling_share\n";
  for (const PsMeasurement& each : measurements) {
    absl::StrAppend(
        &text,
        absl::StrJoin(
            {each.contender(), each.link(), absl::StrCat(each.workers()),
             absl::StrCat(each.shards()), absl::StrCat(each.bytes()), Number(each.time_us()),
             Number(each.gb_per_s()), WrongText(each), Number(each.min_us()), Number(each.p50_us()),
             Number(each.p99_us()), Number(each.cv()), absl::StrCat(each.samples()), each.ceiling(),
             Number(each.ceiling_share())},
            ","),
        "\n");
  }
  return text;
}

}  // namespace ringside
