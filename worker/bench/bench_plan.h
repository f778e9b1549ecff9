// How the bench cuts so many bytes of gradients: the buckets and units of the default
// configuration, for a model whose parameters have 1 MiB each. Pure.
#ifndef RINGSIDE_WORKER_BENCH_BENCH_PLAN_H_
#define RINGSIDE_WORKER_BENCH_BENCH_PLAN_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "common/bucket_plan.h"
#include "common/unit_table.h"

namespace ringside {

struct BenchPlan {
  BucketPlan plan;
  ShardLayout layout;
};

// INVALID_ARGUMENT: no elements, or more shards than those.
absl::StatusOr<BenchPlan> MakeBenchPlan(int64_t elements, int workers, int shards);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_BENCH_BENCH_PLAN_H_
