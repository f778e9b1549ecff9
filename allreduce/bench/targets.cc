#include "allreduce/bench/targets.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "allreduce/bench/bench_config.h"

namespace ringside {
namespace {

constexpr int64_t k4K = 4 << 10;
constexpr int64_t k64K = 64 << 10;
constexpr int64_t k1M = 1 << 20;
constexpr int64_t k16M = 16 << 20;
constexpr int64_t k100M = 100 << 20;

struct TargetRow {
  const char* against;
  std::vector<int> world_sizes;
  std::vector<int64_t> sizes_bytes;
  const char* ours;
  std::vector<const char*> theirs;  // the fastest counts
  const char* measure;              // busbw: at least `target`; time: at most
  double target;
  // Where that is less than beating `theirs` asks for, it is enough to reach this share of raw_tcp,
  // which bounds all of them. 0: no such way out.
  double or_share_of_raw = 0;
};

const std::vector<TargetRow>& Rows() {
  static const auto* rows = new std::vector<TargetRow>{
      {"raw duplex TCP", {2, 4}, {k1M, k16M, k100M}, "ring_tcp", {"raw_tcp"}, "busbw", 0.85},
      {"best of Gloo and Open MPI over TCP",
       {2, 4},
       {k1M, k16M, k100M},
       "ring_tcp",
       {"gloo_ring", "gloo_ring_chunked", "gloo_bcube", "mpi_tcp"},
       "busbw",
       1.1,
       0.95},
      {"Gloo over TCP",
       {2, 4},
       {k4K, k64K},
       "ring_tcp",
       {"gloo_ring", "gloo_ring_chunked", "gloo_bcube"},
       "time",
       0.3},
      {"Open MPI shared memory", {2}, {k1M, k16M, k100M}, "ring_shm", {"mpi"}, "busbw", 1.5},
      {"Open MPI shared memory", {4}, {k16M, k100M}, "ring_shm", {"mpi"}, "busbw", 1.8},
      {"Open MPI shared memory", {2}, {k1M, k16M}, "direct", {"mpi"}, "busbw", 3},
      {"Open MPI shared memory", {2}, {k100M}, "direct", {"mpi"}, "busbw", 1.6},
      {"Open MPI shared memory", {4}, {k1M, k16M, k100M}, "direct", {"mpi"}, "busbw", 3},
      {"Open MPI shared memory", {2, 4}, {k4K, k64K}, "auto", {"mpi"}, "time", 1.0},
      {"Open MPI as installed", {2, 4}, {k100M}, "ring_shm", {"mpi_stock"}, "busbw", 10},
      {"memory ceiling", {2}, {k1M, k16M, k100M}, "ring_shm", {"memory"}, "busbw", 0.8},
      {"memory ceiling", {4}, {k16M, k100M}, "ring_shm", {"memory"}, "busbw", 0.8},
      {"memory ceiling", {4}, {k1M}, "ring_shm", {"memory"}, "busbw", 0.3},
  };
  return *rows;
}

absl::optional<double> TimeOf(const std::vector<AllReduceMeasurement>& results,
                              absl::string_view contender, int world_size, int64_t bytes) {
  for (const AllReduceMeasurement& each : results) {
    if (each.contender() == contender && each.world_size() == world_size && each.bytes() == bytes &&
        each.time_us() > 0) {
      return each.time_us();
    }
  }
  return absl::nullopt;
}

AllReduceTarget Evaluate(const TargetRow& row, int world_size, int64_t bytes,
                         const std::vector<AllReduceMeasurement>& results) {
  AllReduceTarget target;
  target.set_against(row.against);
  target.set_world_size(world_size);
  target.set_bytes(bytes);
  target.set_ours(row.ours);
  target.set_measure(row.measure);
  target.set_target(row.target);
  for (const char* name : row.theirs) {
    const absl::optional<double> time = TimeOf(results, name, world_size, bytes);
    if (!time || (target.theirs_us() > 0 && target.theirs_us() <= *time)) continue;
    target.set_theirs(name);
    target.set_theirs_us(*time);
  }
  target.set_ours_us(TimeOf(results, row.ours, world_size, bytes).value_or(0));
  if (target.ours_us() <= 0 || target.theirs_us() <= 0) return target;
  if (target.measure() == "time") {
    target.set_ratio(target.ours_us() / target.theirs_us());
    target.set_met(target.ratio() <= target.target());
    return target;
  }
  const absl::optional<double> raw = TimeOf(results, "raw_tcp", world_size, bytes);
  if (row.or_share_of_raw > 0 && raw) {
    target.set_target(std::min(row.target, row.or_share_of_raw * target.theirs_us() / *raw));
  }
  target.set_ratio(target.theirs_us() / target.ours_us());
  target.set_met(target.ratio() >= target.target());
  return target;
}

}  // namespace

std::vector<std::string> TargetContenders(const BuiltBaselines& built) {
  std::vector<std::string> names;
  for (const TargetRow& row : Rows()) {
    std::vector<std::string> wanted = {row.ours};
    wanted.insert(wanted.end(), row.theirs.begin(), row.theirs.end());
    for (const std::string& name : wanted) {
      const absl::StatusOr<Contender> contender = FindContender(name);
      if (!contender.ok() || std::find(names.begin(), names.end(), name) != names.end()) continue;
      if (contender->kind == Contender::Kind::kGloo && !built.gloo) continue;
      if (contender->kind == Contender::Kind::kMpi && !built.mpi) continue;
      names.push_back(name);
    }
  }
  return names;
}

std::vector<AllReduceTarget> EvaluateTargets(const std::vector<AllReduceMeasurement>& results) {
  std::vector<AllReduceTarget> targets;
  for (const TargetRow& row : Rows()) {
    for (const int world_size : row.world_sizes) {
      for (const int64_t bytes : row.sizes_bytes) {
        targets.push_back(Evaluate(row, world_size, bytes, results));
      }
    }
  }
  return targets;
}

std::string TargetTable(const std::vector<AllReduceTarget>& targets) {
  std::string text =
      absl::StrFormat("%-36s %2s %6s  %-10s %12s  %-18s %12s  %-6s %7s %9s  %s\n", "against", "N",
                      "size", "ours", "us", "theirs", "us", "ratio", "", "target", "");
  for (const AllReduceTarget& target : targets) {
    const char* sign = target.measure() == "time" ? "<=" : ">=";
    const bool measured = target.ratio() > 0;
    absl::StrAppendFormat(
        &text, "%-36s %2d %6s  %-10s %12.1f  %-18s %12.1f  %-6s %7s %9s  %s\n", target.against(),
        target.world_size(), SizeText(target.bytes()), target.ours(), target.ours_us(),
        target.theirs().empty() ? "-" : target.theirs(), target.theirs_us(), target.measure(),
        measured ? absl::StrFormat("%.3f", target.ratio()) : "-",
        absl::StrFormat("%s %.2f", sign, target.target()),
        !measured      ? "not measured"
        : target.met() ? "met"
                       : "missed");
  }
  return text;
}

}  // namespace ringside
