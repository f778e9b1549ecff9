#include "worker/bench/turn_plan.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

TEST(TurnPlanTest, WhatFitsStaysAsItIs) {
  const TurnPlan plan = FitTurns({5, {200, 10}}, {1e-4, 1e-2}, absl::Seconds(1));
  EXPECT_EQ(plan.rounds, 5);
  EXPECT_EQ(plan.iterations, (std::vector<int>{200, 10}));
}

TEST(TurnPlanTest, FirstThereAreFewerIterations) {
  // A round takes 100 + 40 + 2 exchanges of 10 ms.
  const TurnPlan plan = FitTurns({5, {100}}, {1e-2}, absl::Milliseconds(3650));
  EXPECT_EQ(plan.rounds, 5);
  EXPECT_EQ(plan.iterations, std::vector<int>{50});
}

TEST(TurnPlanTest, ThenFewerRounds) {
  // With 3 iterations a round takes 3 + 1 + 2 exchanges of 0.5 s, for each of the two.
  const TurnPlan plan = FitTurns({5, {5, 5}}, {0.5, 0.5}, absl::Seconds(20));
  EXPECT_EQ(plan.rounds, 3);
  EXPECT_EQ(plan.iterations, (std::vector<int>{3, 3}));
}

TEST(TurnPlanTest, ButThreeIterationsOfTwoRoundsAtLeastOrWhatIsWanted) {
  TurnPlan plan = FitTurns({5, {5, 2}}, {9, 9}, absl::Seconds(1));
  EXPECT_EQ(plan.rounds, 2);
  EXPECT_EQ(plan.iterations, (std::vector<int>{3, 2}));
  plan = FitTurns({1, {5}}, {9}, absl::Seconds(1));
  EXPECT_EQ(plan.rounds, 1);
}

TEST(TurnPlanTest, WarmUpIsTwoFifthsAndAtLeastOne) {
  EXPECT_EQ(WarmupIterations(1), 1);
  EXPECT_EQ(WarmupIterations(5), 2);
  EXPECT_EQ(WarmupIterations(200), 80);
}

}  // namespace
}  // namespace ringside
