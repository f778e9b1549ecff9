#include "experiments/experiment_config.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/config/job_config.h"

namespace ringside {
namespace {

// The largest worker count that error messages propose.
constexpr int kLargestProposal = 64;

template <typename T>
absl::Status RequireDistinct(absl::string_view flag, const std::vector<T>& values) {
  if (values.empty())
    return absl::InvalidArgumentError(absl::StrCat("--", flag, "=: must name at least one"));
  std::set<T> seen;
  for (const T& value : values) {
    if (seen.insert(value).second) continue;
    return absl::InvalidArgumentError(absl::StrCat("--", flag, "=", absl::StrJoin(values, ","),
                                                   ": ", value, " is there twice; each once"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ExperimentConfig::Validate() const {
  for (const std::string& strategy : strategies) {
    const auto& known = KnownStrategies();
    if (std::find(known.begin(), known.end(), strategy) != known.end()) continue;
    return absl::InvalidArgumentError(absl::StrCat("--strategies=", absl::StrJoin(strategies, ","),
                                                   ": \"", strategy, "\" must be one of ",
                                                   absl::StrJoin(known, ", ")));
  }
  absl::Status distinct = RequireDistinct("strategies", strategies);
  if (!distinct.ok()) return distinct;
  for (int workers : worker_counts) {
    if (workers >= 1) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--workers=", absl::StrJoin(worker_counts, ","), ": each must be at least 1"));
  }
  distinct = RequireDistinct("workers", worker_counts);
  if (!distinct.ok()) return distinct;
  if (trials < 1)
    return absl::InvalidArgumentError(absl::StrCat("--trials=", trials, ": must be at least 1"));
  if (scaling != "strong" && scaling != "weak") {
    return absl::InvalidArgumentError(
        absl::StrCat("--scaling=", scaling, ": must be strong or weak"));
  }
  if (global_batch < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--global_batch=", global_batch, ": must be at least 1, or 0 for --batch_size x workers"));
  }
  if (global_batch > 0 && scaling == "weak") {
    return absl::InvalidArgumentError(
        absl::StrCat("--global_batch=", global_batch,
                     ": fixed by --scaling=strong alone; weak scaling takes --batch_size"));
  }
  return absl::OkStatus();
}

int64_t ExperimentConfig::GlobalBatch(int batch_size) const {
  if (global_batch > 0) return global_batch;
  return int64_t{batch_size} * *std::max_element(worker_counts.begin(), worker_counts.end());
}

absl::StatusOr<int> ExperimentConfig::BatchSize(int batch_size, int workers) const {
  if (scaling == "weak") return batch_size;
  const int64_t global = GlobalBatch(batch_size);
  if (global % workers == 0 && global / workers <= std::numeric_limits<int>::max()) {
    return static_cast<int>(global / workers);
  }
  std::vector<int> divisors;
  for (int count = 1; count <= kLargestProposal; ++count) {
    if (global % count == 0) divisors.push_back(count);
  }
  int64_t multiple = 1;
  for (int count : worker_counts) multiple = std::lcm(multiple, int64_t{count});
  const int64_t below = global / multiple * multiple;
  return absl::InvalidArgumentError(absl::StrCat(
      "--workers=", absl::StrJoin(worker_counts, ","), ": the global batch of ", global,
      global_batch > 0 ? "" : absl::StrCat(" (--batch_size=", batch_size, " x the most workers)"),
      " cannot be divided evenly over ", workers, " workers; it can over ",
      absl::StrJoin(divisors, ", "), "; --global_batch=",
      below > 0 ? absl::StrCat(below, " or ") : "", below + multiple, " would do"));
}

}  // namespace ringside
