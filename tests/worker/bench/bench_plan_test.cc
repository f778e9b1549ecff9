#include "worker/bench/bench_plan.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

constexpr int64_t kMiBElements = (1 << 20) / 4;

TEST(BenchPlanTest, SmallGradientsAreOneBucket) {
  const auto plan = MakeBenchPlan(1024, 2, 1);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->plan.size(), 1);
  EXPECT_EQ(plan->plan.total_elements(), 1024);
}

TEST(BenchPlanTest, BucketsAreThoseOfTheDefaultConfiguration) {
  const auto plan = MakeBenchPlan(16 * kMiBElements, 4, 2);
  ASSERT_TRUE(plan.ok()) << plan.status();
  // 1 MiB, because no parameter is split; then 4 MiB each, and what is left.
  ASSERT_EQ(plan->plan.size(), 5);
  EXPECT_EQ(plan->plan.bucket(0).length, kMiBElements);
  EXPECT_EQ(plan->plan.bucket(1).length, 4 * kMiBElements);
  EXPECT_EQ(plan->plan.bucket(4).length, 3 * kMiBElements);
  EXPECT_EQ(plan->layout.world_size, 4);
  EXPECT_EQ(plan->layout.num_shards, 2);
}

TEST(BenchPlanTest, TooFewElementsAreRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(MakeBenchPlan(0, 2, 1).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(MakeBenchPlan(1, 2, 2).status()));
}

}  // namespace
}  // namespace ringside
