#include "experiments/model/step_simulator.h"

#include <gtest/gtest.h>

#include <cmath>

#include "experiments/model/cost_formulas.h"
#include "tests/experiments/model/sample_jobs.h"

namespace ringside {
namespace {

std::vector<double> Steps(const StepJob& job, const SimulationConfig& config) {
  const auto steps = SimulateSteps(job, config);
  EXPECT_TRUE(steps.ok()) << steps.status();
  return *steps;
}

double MeanOf(const std::vector<double>& values) {
  double sum = 0;
  for (double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

TEST(StepSimulatorTest, TheSameSeedGivesTheSameSteps) {
  for (bool servers : {false, true}) {
    StepJob job = Resnet50(4);
    job.servers = servers;
    job.shards = 2;
    SimulationConfig config;
    config.steps = 3;
    const std::vector<double> steps = Steps(job, config);
    EXPECT_EQ(Steps(job, config), steps);
    EXPECT_NE(steps[0], steps[1]);
    config.seed = 2;
    EXPECT_NE(Steps(job, config), steps);
  }
}

TEST(StepSimulatorTest, WithoutSpreadAllStepsAreAlike) {
  StepJob job = Resnet50(4);
  job.compute.spread_s = 0;
  SimulationConfig config;
  config.steps = 3;
  const std::vector<double> steps = Steps(job, config);
  EXPECT_NEAR(steps[0], steps[2], 1e-12);
  EXPECT_NEAR(steps[0], EstimateStep(job).step_s, 0.05 * steps[0]);
}

// The slowest of N ranks decides.
TEST(StepSimulatorTest, SpreadCostsTheLargestOfItsDraws) {
  StepJob job = UniformRing(8, 8);
  job.compute = {0.05, 0.05, 0, 0.01, false};
  SimulationConfig config;
  config.steps = 400;
  EXPECT_NEAR(MeanOf(Steps(job, config)), EstimateStep(job).step_s, 0.002);
}

TEST(StepSimulatorTest, OneStragglerDelaysAll) {
  for (bool servers : {false, true}) {
    StepJob job = Resnet50(4);
    job.servers = servers;
    job.shards = 1;
    job.compute.spread_s = 0;
    const double even = Steps(job, {})[0];
    SimulationConfig config;
    config.stragglers[2] = 0.05;
    EXPECT_NEAR(Steps(job, config)[0], even + 0.05, 0.01);
  }
}

TEST(StepSimulatorTest, RefusesWhatIsNoJob) {
  StepJob job = Resnet50(4);
  SimulationConfig config;
  config.stragglers[4] = 0.05;
  EXPECT_EQ(SimulateSteps(job, config).status().code(), absl::StatusCode::kInvalidArgument);
  job.servers = true;
  EXPECT_EQ(SimulateSteps(job, {}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(StepSimulatorTest, FailuresCostWhatTheFormulaExpects) {
  FailureConfig config;
  config.mtbf_s = 3600;
  config.interval_s = 600;
  config.checkpoint_s = 20;
  config.restart_s = 120;
  double sum = 0;
  constexpr int kHistories = 400;
  for (int i = 0; i < kHistories; ++i) {
    config.seed = static_cast<uint64_t>(i) * 7919 + 1;
    sum += SimulateTraining(36'000, config);
  }
  const double expected = ExpectedTrainingSeconds(36'000, 3600, 600, 20, 120);
  EXPECT_NEAR(sum / kHistories, expected, 0.01 * expected);
  EXPECT_GT(expected, 36'000 * 1.1);
}

}  // namespace
}  // namespace ringside
