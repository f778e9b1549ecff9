#include "worker/bench/bench_plan.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/config/job_config.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

constexpr int64_t kParameterElements = (int64_t{1} << 20) / int64_t{sizeof(float)};

}  // namespace

absl::StatusOr<BenchPlan> MakeBenchPlan(int64_t elements, int workers, int shards) {
  std::vector<ParameterSpec> parameters;
  for (int64_t done = 0; done < elements; done += kParameterElements) {
    parameters.push_back(
        {absl::StrCat("p", parameters.size()), {std::min(kParameterElements, elements - done)}});
  }
  const JobConfig defaults;
  RINGSIDE_ASSIGN_OR_RETURN(
      BucketPlan plan,
      BucketPlan::Create(parameters, defaults.first_bucket_bytes, defaults.bucket_bytes));
  ShardLayout layout;
  layout.world_size = workers;
  layout.num_shards = shards;
  RINGSIDE_RETURN_IF_ERROR(layout.Validate(plan));
  return BenchPlan{std::move(plan), layout};
}

}  // namespace ringside
