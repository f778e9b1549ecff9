#include "worker/bench/ps_targets.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "allreduce/bench/bench_config.h"
#include "worker/bench/ps_bench_config.h"
#include "worker/bench/ps_contenders.h"
#include "worker/bench/ps_measurement.h"

namespace ringside {
namespace {

constexpr int64_t k4K = 4 << 10;
constexpr int64_t k1M = 1 << 20;
constexpr int64_t k16M = 16 << 20;
constexpr int64_t k100M = 100 << 20;
constexpr double kMicrosPerMilli = 1e3;

// ps-lite, with tuned malloc, pushing and pulling 100 MiB on a 2-core machine of this kind.
struct PsLiteTime {
  PsShape shape;
  double tcp_ms;
  double local_ms;
};
constexpr PsLiteTime kPsLite[] = {{{2, 1}, 148, 90}, {{2, 2}, 127, 101}, {{4, 2}, 245, 183}};

const PsMeasurement* Find(const std::vector<PsMeasurement>& results, absl::string_view contender,
                          const PsShape& shape, int64_t bytes) {
  for (const PsMeasurement& each : results) {
    if (each.contender() == contender && each.workers() == shape.workers &&
        each.shards() == shape.shards && each.bytes() == bytes && each.time_us() > 0) {
      return &each;
    }
  }
  return nullptr;
}

PsTarget TargetOf(absl::string_view what, absl::string_view contender, const PsShape& shape,
                  int64_t bytes) {
  PsTarget target;
  target.set_what(std::string(what));
  target.set_contender(std::string(contender));
  target.set_workers(shape.workers);
  target.set_shards(shape.shards);
  target.set_bytes(bytes);
  return target;
}

// A quotient is judged; 0 stands for what was not measured.
PsTarget Judge(PsTarget target, bool at_least, double bound) {
  target.set_at_least(at_least);
  target.set_target(bound);
  if (target.measured() <= 0 || target.reference() <= 0) return target;
  target.set_ratio(at_least ? target.reference() / target.measured()
                            : target.measured() / target.reference());
  target.set_met(at_least ? target.ratio() >= bound : target.ratio() <= bound);
  return target;
}

// Time of the fastest ceiling over that of `contender`: at least `bound`.
PsTarget ShareOfCeiling(absl::string_view what, absl::string_view contender, const PsShape& shape,
                        int64_t bytes, double bound, const std::vector<PsMeasurement>& results) {
  PsTarget target = TargetOf(what, contender, shape, bytes);
  target.set_unit("us");
  const PsMeasurement* ours = Find(results, contender, shape, bytes);
  const PsMeasurement* ceiling = ours == nullptr ? nullptr : FastestCeiling(results, *ours);
  if (ours != nullptr) target.set_measured(ours->time_us());
  if (ceiling != nullptr) {
    target.set_against(ceiling->contender());
    target.set_reference(ceiling->time_us());
  }
  return Judge(std::move(target), /*at_least=*/true, bound);
}

// Time over `reference_ms`, which somebody else has taken elsewhere: at most `bound`.
PsTarget AgainstPsLite(absl::string_view what, absl::string_view contender, const PsShape& shape,
                       double reference_ms, absl::string_view against, double bound,
                       const std::vector<PsMeasurement>& results) {
  PsTarget target = TargetOf(what, contender, shape, k100M);
  target.set_unit("ms");
  const PsMeasurement* ours = Find(results, contender, shape, k100M);
  if (ours != nullptr) target.set_measured(ours->time_us() / kMicrosPerMilli);
  target.set_against(std::string(against));
  target.set_reference(reference_ms);
  return Judge(std::move(target), /*at_least=*/false, bound);
}

PsTarget SmallTime(absl::string_view contender, const std::vector<PsMeasurement>& results) {
  constexpr double kAllowedUs = 200;
  PsTarget target = TargetOf("4 KiB push+pull", contender, {2, 1}, k4K);
  target.set_unit("us");
  const PsMeasurement* ours = Find(results, contender, {2, 1}, k4K);
  if (ours != nullptr) target.set_measured(ours->time_us());
  target.set_against("allowed");
  target.set_reference(kAllowedUs);
  return Judge(std::move(target), /*at_least=*/false, 1);
}

// Of the shard with the most.
PsTarget ShardExcess(absl::string_view contender, const PsShape& shape,
                     const std::vector<PsShardMemory>& memory) {
  constexpr double kAllowedMiB = 64;
  PsTarget target = TargetOf("shard RSS beyond arenas and parked frames", contender, shape, k100M);
  target.set_unit("MiB");
  for (const PsShardMemory& each : memory) {
    if (each.contender() != contender || each.workers() != shape.workers ||
        each.shards() != shape.shards || each.bytes() != k100M || each.peak_rss_bytes() <= 0) {
      continue;
    }
    // An excess of nothing is still something that was measured.
    const double excess = std::max<double>(1, static_cast<double>(each.excess_bytes()));
    target.set_measured(std::max(target.measured(), excess / k1M));
  }
  target.set_against("allowed");
  target.set_reference(kAllowedMiB);
  return Judge(std::move(target), /*at_least=*/false, 1);
}

}  // namespace

std::vector<PsTarget> EvaluatePsTargets(const std::vector<PsMeasurement>& results,
                                        const std::vector<PsShardMemory>& memory) {
  std::vector<PsTarget> targets;
  for (const auto& [link, bound] : {std::make_pair("grpc_tcp", 0.8), {"grpc_uds", 0.7}}) {
    for (const PsLiteTime& each : kPsLite) {
      for (const int64_t bytes : {k1M, k16M, k100M}) {
        targets.push_back(ShareOfCeiling("share of raw gRPC", absl::StrCat("ps/", link), each.shape,
                                         bytes, bound, results));
      }
    }
  }
  for (const PsLiteTime& each : kPsLite) {
    targets.push_back(AgainstPsLite("time against ps-lite", "ps/grpc_tcp", each.shape, each.tcp_ms,
                                    "ps-lite TCP", 1.2, results));
  }
  for (const PsLiteTime& each : kPsLite) {
    targets.push_back(AgainstPsLite("time against ps-lite", "ps/grpc_uds", each.shape,
                                    each.local_ms, "ps-lite local", 1.3, results));
  }
  for (const PsLiteTime& each : kPsLite) {
    targets.push_back(AgainstPsLite("time against ps-lite", "ps/shm", each.shape, each.local_ms,
                                    "ps-lite local", 0.25, results));
  }
  for (const PsLiteTime& each : kPsLite) {
    targets.push_back(
        ShareOfCeiling("share of the memory ceiling", "ps/shm", each.shape, k100M, 0.7, results));
  }
  const char* const servers[] = {"ps/grpc_tcp", "ps/grpc_uds", "ps/shm"};
  for (const char* server : servers) targets.push_back(SmallTime(server, results));
  for (const char* server : servers) {
    for (const PsLiteTime& each : kPsLite) {
      targets.push_back(ShardExcess(server, each.shape, memory));
    }
  }
  for (const PsShape& shape : {PsShape{2, 1}, PsShape{4, 2}}) {
    targets.push_back(
        ShareOfCeiling("fold throughput of one shard thread", "fold", shape, k16M, 0.8, results));
  }
  return targets;
}

std::string PsTargetTable(const std::vector<PsTarget>& targets) {
  std::string text = absl::StrFormat("%-42s %-12s %5s %6s %12s %4s  %-22s %12s %7s %8s  %s\n",
                                     "target", "contender", "W/S", "size", "measured", "",
                                     "against", "reference", "ratio", "target", "");
  for (const PsTarget& target : targets) {
    const bool measured = target.ratio() > 0;
    absl::StrAppendFormat(
        &text, "%-42s %-12s %5s %6s %12s %4s  %-22s %12s %7s %8s  %s\n", target.what(),
        target.contender(), ToString(PsShape{target.workers(), target.shards()}),
        SizeText(target.bytes()),
        target.measured() > 0 ? absl::StrFormat("%.1f", target.measured()) : "-", target.unit(),
        target.against().empty() ? "-" : target.against(),
        target.reference() > 0 ? absl::StrFormat("%.1f", target.reference()) : "-",
        measured ? absl::StrFormat("%.3f", target.ratio()) : "-",
        absl::StrFormat("%s %.2f", target.at_least() ? ">=" : "<=", target.target()),
        !measured      ? "not measured"
        : target.met() ? "met"
                       : "MISSED");
  }
  return text;
}

}  // namespace ringside
