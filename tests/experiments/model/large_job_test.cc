// A thousand workers.
#include <gtest/gtest.h>

#include <chrono>

#include "experiments/model/cost_formulas.h"
#include "experiments/model/step_simulator.h"
#include "tests/experiments/model/sample_jobs.h"

namespace ringside {
namespace {

// What is promised is 10 s on a machine that does nothing else.
constexpr double kMostSeconds = 60;

double SecondsToSimulate(const StepJob& job, double* step_s) {
  const auto begin = std::chrono::steady_clock::now();
  const auto steps = SimulateSteps(job, {});
  EXPECT_TRUE(steps.ok()) << steps.status();
  *step_s = steps.ok() ? steps->front() : 0;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST(LargeJobTest, ResNet50OverARingOf1024) {
  const StepJob job = Resnet50(1024);
  double step_s = 0;
  EXPECT_LT(SecondsToSimulate(job, &step_s), kMostSeconds);
  EXPECT_NEAR(step_s, EstimateStep(job).step_s, 0.15 * step_s);
}

TEST(LargeJobTest, ResNet50OverServersFor1024) {
  StepJob job = Resnet50(1024);
  job.servers = true;
  for (int shards : {1, 64}) {
    job.shards = shards;
    double step_s = 0;
    EXPECT_LT(SecondsToSimulate(job, &step_s), kMostSeconds);
    EXPECT_NEAR(step_s, EstimateStep(job).step_s, 0.15 * step_s) << shards << " shards";
  }
}

}  // namespace
}  // namespace ringside
