#include "common/learning_rate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

LearningRateConfig Step(int64_t every, double factor, int64_t warmup = 0) {
  LearningRateConfig config;
  config.schedule = "step";
  config.decay_steps = every;
  config.decay_factor = factor;
  config.warmup_steps = warmup;
  return config;
}

LearningRateConfig Cosine(int64_t total, double final_rate, int64_t warmup = 0) {
  LearningRateConfig config;
  config.schedule = "cosine";
  config.total_steps = total;
  config.final_rate = final_rate;
  config.warmup_steps = warmup;
  return config;
}

std::vector<double> Rates(const LearningRateConfig& config, double base, int64_t steps) {
  const auto schedule = LearningRateSchedule::Create(config, base);
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  std::vector<double> rates;
  for (int64_t step = 1; step <= steps; ++step) rates.push_back(schedule->At(step));
  return rates;
}

TEST(LearningRateTest, ConstantIsTheBaseInEveryBit) {
  for (double base : {0.05, 0.1, 1.0 / 3, 1e-30}) {
    EXPECT_THAT(Rates({}, base, 3), ElementsAre(base, base, base));
    const auto schedule = *LearningRateSchedule::Create({}, base);
    EXPECT_EQ(schedule.At(std::numeric_limits<int64_t>::max()), base);
  }
}

TEST(LearningRateTest, StepDropsEveryKSteps) {
  EXPECT_THAT(Rates(Step(2, 0.5), 8, 7), ElementsAre(8, 8, 4, 4, 2, 2, 1));
  EXPECT_THAT(Rates(Step(1, 0.5), 8, 3), ElementsAre(8, 4, 2));
  const auto schedule = *LearningRateSchedule::Create(Step(1, 0.5), 8);
  EXPECT_EQ(schedule.At(int64_t{1} << 40), 0);  // far below any double, and no NaN
}

TEST(LearningRateTest, CosineFallsFromBaseToFinal) {
  // cos of 0, 60, 120 degrees: 1, 1/2, -1/2.
  const std::vector<double> rates = Rates(Cosine(3, 0), 4, 5);
  EXPECT_EQ(rates[0], 4);
  EXPECT_NEAR(rates[1], 3, 1e-12);
  EXPECT_NEAR(rates[2], 1, 1e-12);
  EXPECT_EQ(rates[3], 0);
  EXPECT_EQ(rates[4], 0);
  const std::vector<double> with_floor = Rates(Cosine(2, 1), 5, 3);
  EXPECT_EQ(with_floor[0], 5);
  EXPECT_NEAR(with_floor[1], 3, 1e-12);
  EXPECT_EQ(with_floor[2], 1);
}

TEST(LearningRateTest, WarmUpGrowsLinearlyToTheFullRate) {
  LearningRateConfig constant;
  constant.warmup_steps = 4;
  EXPECT_THAT(Rates(constant, 8, 6), ElementsAre(2, 4, 6, 8, 8, 8));
  constant.warmup_steps = 1;
  EXPECT_THAT(Rates(constant, 8, 2), ElementsAre(8, 8));
  // Steps are counted from 1 whatever the warm-up; a drop within it scales the ramp.
  EXPECT_THAT(Rates(Step(2, 0.5, 2), 8, 5), ElementsAre(4, 8, 4, 4, 2));
  EXPECT_THAT(Rates(Step(2, 0.5, 4), 8, 5), ElementsAre(2, 4, 3, 4, 2));
  // The cosine begins when the warm-up ends, and ends with the total.
  const std::vector<double> rates = Rates(Cosine(5, 0, 2), 4, 6);
  EXPECT_EQ(rates[0], 2);
  EXPECT_EQ(rates[1], 4);
  EXPECT_EQ(rates[2], 4);
  EXPECT_NEAR(rates[3], 3, 1e-12);
  EXPECT_NEAR(rates[4], 1, 1e-12);
  EXPECT_EQ(rates[5], 0);
}

TEST(LearningRateTest, ValidateNamesFlagAndValue) {
  const auto refusal = [](const LearningRateConfig& config) {
    const absl::Status status = config.Validate(0.05);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(LearningRateSchedule::Create(config, 0.05).status(), status);
    return std::string(status.message());
  };
  LearningRateConfig config;
  EXPECT_TRUE(config.Validate(0.05).ok());
  config.schedule = "poly";
  EXPECT_EQ(refusal(config), "--lr_schedule=poly: must be one of constant, step, cosine");
  config = {};
  config.warmup_steps = -1;
  EXPECT_EQ(refusal(config), "--lr_warmup_steps=-1: must be at least 0");
  config = {};
  config.decay_steps = 3;
  EXPECT_EQ(refusal(config),
            "--lr_decay_steps=3: must be 0 with --lr_schedule=constant; it is of step");
  config = Step(3, 0.5);
  config.total_steps = 9;
  EXPECT_EQ(refusal(config),
            "--lr_total_steps=9: must be 0 with --lr_schedule=step; it is of cosine");
  config = Step(3, 0.5);
  config.final_rate = 0.01;
  EXPECT_THAT(refusal(config), HasSubstr("--lr_final=0.01: must be 0"));
  EXPECT_EQ(refusal(Step(0, 0.5)),
            "--lr_decay_steps=0: must be at least 1 with --lr_schedule=step");
  for (double factor : {0.0, -0.5, 1.5, std::nan("")}) {
    EXPECT_THAT(refusal(Step(3, factor)), HasSubstr("must be greater than 0 and at most 1"));
  }
  EXPECT_THAT(refusal(Cosine(0, 0)), HasSubstr("--lr_total_steps=0: must be at least 1"));
  EXPECT_EQ(refusal(Cosine(10, 0, 10)),
            "--lr_warmup_steps=10: must be less than the 10 steps that --lr_schedule=cosine has in "
            "all");
  for (double rate : {-0.01, 0.06, std::nan("")}) {
    EXPECT_THAT(refusal(Cosine(10, rate)),
                HasSubstr("must be at least 0 and at most the base rate, which is 0.05"));
  }
}

TEST(ScaledRateTest, GrowsWithTheRanksAsToldTo) {
  EXPECT_EQ(*ScaledRate("none", 0.1, 16), 0.1);
  EXPECT_EQ(*ScaledRate("linear", 0.1, 16), 0.1 * 16);
  EXPECT_EQ(*ScaledRate("sqrt", 0.1, 16), 0.4);
  EXPECT_EQ(*ScaledRate("linear", 0.1, 1), 0.1);
  EXPECT_EQ(ScaledRate("cubic", 0.1, 2).status().message(),
            "--lr_scaling=cubic: must be one of none, linear, sqrt");
}

}  // namespace
}  // namespace ringside
