#include "experiments/model/failure_estimate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "experiments/model/cost_formulas.h"
#include "tests/experiments/model/sample_jobs.h"

namespace ringside {
namespace {

// Steps of 1 s; a process fails every 10,000 h.
constexpr FailureAssumptions kUsual = {36e6, 120, 5, 0};

// Daly 2006, equation 37: three terms of a series, for checkpoints that cost little.
double DalysInterval(double mtbf_s, double checkpoint_s) {
  const double ratio = checkpoint_s / (2 * mtbf_s);
  return std::sqrt(2 * checkpoint_s * mtbf_s) * (1 + std::sqrt(ratio) / 3 + ratio / 9) -
         checkpoint_s;
}

TEST(BestCheckpointIntervalTest, IsYoungsWhereCheckpointsCostLittle) {
  for (double mtbf_s : {1e5, 1e7}) {
    const double young = std::sqrt(2 * 1.0 * mtbf_s);
    EXPECT_NEAR(BestCheckpointInterval(mtbf_s, 1), young, 0.002 * young);
  }
}

TEST(BestCheckpointIntervalTest, IsDalysSeries) {
  for (double checkpoint_s : {1.0, 60.0, 600.0, 3600.0}) {
    const double daly = DalysInterval(86'400, checkpoint_s);
    EXPECT_NEAR(BestCheckpointInterval(86'400, checkpoint_s), daly, 0.001 * daly) << checkpoint_s;
  }
}

TEST(BestCheckpointIntervalTest, NoOtherCostsLess) {
  for (double checkpoint_s : {0.01, 10.0, 1e4}) {
    const double best = BestCheckpointInterval(3600, checkpoint_s);
    const double least = ExpectedTrainingSeconds(1, 3600, best, checkpoint_s, 60);
    for (double factor : {0.9, 0.99, 1.01, 1.1}) {
      EXPECT_GT(ExpectedTrainingSeconds(1, 3600, best * factor, checkpoint_s, 60), least)
          << checkpoint_s << ", " << factor;
    }
  }
  EXPECT_LT(BestCheckpointInterval(3600, 0), 1e-6);      // what costs nothing is done always
  EXPECT_NEAR(BestCheckpointInterval(1, 1e6), 1, 1e-6);  // what costs all, once between failures
}

TEST(FailureEstimateTest, MoreProcessesFailMoreOften) {
  StepJob job = UniformRing(8, 1000);
  const FailureEstimate ring = EstimateFailures(kUsual, job, 1);
  EXPECT_EQ(ring.processes, 8);
  EXPECT_DOUBLE_EQ(ring.mtbf_s, 36e6 / 8);
  job.servers = true;
  job.shards = 4;
  const FailureEstimate ps = EstimateFailures(kUsual, job, 1);
  EXPECT_EQ(ps.processes, 12);
  EXPECT_DOUBLE_EQ(ps.mtbf_s, 36e6 / 12);
  EXPECT_LT(ps.goodput, ring.goodput);
  job.placement = Placement::kColocated;  // the hosts are fewer, the processes are not
  EXPECT_EQ(EstimateFailures(kUsual, job, 1).processes, 12);
}

// M e^(R/M) (e^((tau+delta)/M) - 1) / tau, with a failure every 1,000 s and all else 100 s.
TEST(FailureEstimateTest, IsDalysFormula) {
  const FailureAssumptions assumptions = {4000, 100, 100, 50};
  const FailureEstimate estimate = EstimateFailures(assumptions, UniformRing(4, 1000), 2);
  const double expected = 1000 * std::exp(0.1) * (std::exp(0.2) - 1) / 100;
  EXPECT_EQ(estimate.checkpoint_steps, 50);
  EXPECT_NEAR(estimate.goodput, 1 / expected, 1e-12);
  EXPECT_NEAR(estimate.step_s, 2 * expected, 1e-12);
  EXPECT_EQ(estimate.simulated_goodput, 0);
}

TEST(FailureEstimateTest, TheBestNumberOfStepsIsBetterThanAnyOther) {
  for (double step_s : {0.01, 1.0, 700.0, 1e5}) {
    const StepJob job = UniformRing(64, 1000);
    const FailureEstimate best = EstimateFailures(kUsual, job, step_s);
    EXPECT_GE(best.checkpoint_steps, 1);
    FailureAssumptions other = kUsual;
    for (int64_t steps : {best.checkpoint_steps / 2, best.checkpoint_steps - 1,
                          best.checkpoint_steps + 1, best.checkpoint_steps * 2}) {
      if (steps < 1) continue;
      other.checkpoint_steps = steps;
      EXPECT_LE(EstimateFailures(other, job, step_s).goodput, best.goodput)
          << steps << " steps of " << step_s << " s, best " << best.checkpoint_steps;
    }
  }
}

TEST(FailureEstimateTest, AJobThatAlwaysFailsGetsNowhere) {
  const FailureAssumptions assumptions = {3600, 600, 60, 1000};
  const FailureEstimate estimate = EstimateFailures(assumptions, UniformRing(1024, 1000), 1);
  EXPECT_EQ(estimate.goodput, 0);
  EXPECT_TRUE(std::isinf(estimate.step_s));
  EXPECT_EQ(SimulateGoodput(assumptions, estimate, 1), 0);
}

TEST(FailureEstimateTest, TheSimulationAgrees) {
  for (int workers : {8, 1024, 8192}) {
    for (int64_t steps : {int64_t{0}, int64_t{3000}}) {
      FailureAssumptions assumptions = kUsual;
      assumptions.checkpoint_steps = steps;
      const FailureEstimate estimate = EstimateFailures(assumptions, UniformRing(workers, 1000), 1);
      EXPECT_NEAR(SimulateGoodput(assumptions, estimate, 1), estimate.goodput,
                  0.05 * (1 - estimate.goodput) + 1e-4)
          << workers << " workers, " << steps << " steps";
    }
  }
}

}  // namespace
}  // namespace ringside
