#include "experiments/sweep/hold_outs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/sweep/sweep_plan.h"

namespace ringside {
namespace {

absl::StatusOr<SweepPlan> Plan(const std::string& forecast) {
  const auto source = ParseSpec(
      "a.textproto",
      absl::StrCat(
          "question: \"Which?\" flags: \"steps=5\" strategy { name: \"ring\" }\n"
          "workers: [1, 2]\nvary { setting: \"learning_rate\" values: [\"1e-1\", \"0.2\"] }\n",
          "forecast { ", forecast, " }"));
  if (!source.ok()) return source.status();
  return PlanSweep(*source, "out", {});
}

TEST(HoldOutsTest, ValuesAreThoseThatResultsRecord) {
  const auto plan = Plan("hold_out { setting: \"learning_rate\" value: \"1e-1\" workers: 2 }");
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_TRUE(plan->has_forecast);
  ASSERT_EQ(plan->forecast.hold_out_size(), 1);
  EXPECT_EQ(plan->forecast.hold_out(0).value(), "0.1");
  EXPECT_TRUE(IsHeldOut(plan->forecast, {{"learning_rate", "0.1"}}, 2));
  EXPECT_FALSE(IsHeldOut(plan->forecast, {{"learning_rate", "0.1"}}, 1));
  EXPECT_FALSE(IsHeldOut(plan->forecast, {{"learning_rate", "0.2"}}, 2));
}

TEST(HoldOutsTest, WorkersAloneOrASettingAlone) {
  const auto plan =
      Plan("hold_out { workers: 2 } hold_out { setting: \"learning_rate\" value: \"0.2\" }");
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_TRUE(IsHeldOut(plan->forecast, {{"learning_rate", "0.1"}}, 2));
  EXPECT_TRUE(IsHeldOut(plan->forecast, {{"learning_rate", "0.2"}}, 1));
  EXPECT_FALSE(IsHeldOut(plan->forecast, {{"learning_rate", "0.1"}}, 1));
}

TEST(HoldOutsTest, WhatIsNotThereCannotBeHeldOut) {
  const auto message = [](const std::string& forecast) {
    return std::string(Plan(forecast).status().message());
  };
  EXPECT_EQ(message("hold_out { }"),
            "a.textproto:4: forecast.hold_out[0]: would hold out every point; name a setting and "
            "value, or workers");
  EXPECT_EQ(
      message("hold_out { setting: \"seed\" value: \"1\" }"),
      "a.textproto:4: forecast.hold_out[0].setting: \"seed\" does not vary; learning_rate does");
  EXPECT_EQ(
      message("hold_out { setting: \"learning_rate\" value: \"3\" }"),
      "a.textproto:4: forecast.hold_out[0].value: \"3\" must be one of \"1e-1\", \"0.2\", which "
      "learning_rate has here");
  EXPECT_EQ(message("hold_out { workers: 3 }"),
            "a.textproto:4: forecast.hold_out[0].workers: 3 must be one of workers: 1, 2");
}

}  // namespace
}  // namespace ringside
