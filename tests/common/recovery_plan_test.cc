#include "common/recovery_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ringside {
namespace {

using ::testing::HasSubstr;

// One shard of three units.
std::string Worker(int64_t step, std::vector<bool> received) {
  return EncodeWorkerProgress({step, {std::move(received)}});
}

TEST(RecoveryPlanTest, OpensTheOldestStepAndLetsTheLowestRankRestore) {
  const auto plan =
      ReadSumRecovery({Worker(7, {false, true, false}), Worker(8, {false, false, false}),
                       Worker(7, {true, true, false})},
                      3, {3});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->step(), 7);
  EXPECT_FALSE(plan->IsAhead(0));
  EXPECT_TRUE(plan->IsAhead(1));
  EXPECT_TRUE(plan->Lacks(0, 0, 0));
  EXPECT_FALSE(plan->Lacks(1, 0, 0));  // it is ahead, so it has all of step 7
  EXPECT_EQ(plan->Restorer(0, 0), 1);
  EXPECT_EQ(plan->Restorer(0, 1), absl::nullopt);  // nobody needs it
  EXPECT_EQ(plan->Restorer(0, 2), 1);
}

TEST(RecoveryPlanTest, WhatNobodyHasNobodyRestores) {
  const auto plan = ReadSumRecovery({Worker(0, {false}), Worker(0, {false})}, 2, {1});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->Restorer(0, 0), absl::nullopt);
  EXPECT_TRUE(plan->Lacks(1, 0, 0));
}

TEST(RecoveryPlanTest, StatesThatDoNotFitAreRefused) {
  EXPECT_THAT(std::string(ReadSumRecovery({Worker(1, {true})}, 2, {1}).status().message()),
              HasSubstr("1 workers have told where they are, the job has 2"));
  EXPECT_EQ(ReadSumRecovery({Worker(1, {true})}, 1, {2}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ReadSumRecovery({"\xff"}, 1, {1}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(RecoveryPlanTest, TheNewestSnapshotThatAllHave) {
  const auto step = ReadCommonSnapshot({EncodeSnapshots({40, 20}), EncodeSnapshots({20, 0})});
  ASSERT_TRUE(step.ok()) << step.status();
  EXPECT_EQ(*step, 20u);
  EXPECT_THAT(
      std::string(
          ReadCommonSnapshot({EncodeSnapshots({40}), EncodeSnapshots({})}).status().message()),
      HasSubstr("no snapshot of shard 1 can be read"));
  EXPECT_THAT(
      std::string(
          ReadCommonSnapshot({EncodeSnapshots({40}), EncodeSnapshots({20})}).status().message()),
      HasSubstr("no snapshot of one and the same step"));
}

}  // namespace
}  // namespace ringside
