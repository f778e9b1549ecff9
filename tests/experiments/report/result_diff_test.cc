#include "experiments/report/result_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>

#include "experiments/report/comparison.h"
#include "tests/experiments/report/sample_runs.h"

namespace ringside {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr double kTolerance = 0.02;

RunResult RunOf(const std::string& strategy, double step_s, int64_t trial, int workers = 2) {
  SampleRun sample;
  sample.strategy = strategy;
  sample.workers = workers;
  sample.batch_size = 128 / workers;
  sample.trial = trial;
  sample.step_s = step_s;
  sample.steps = 20;
  return MakeRun(sample);
}

// Trials that take about `step_s`, one after the other a little more.
std::vector<RunResult> Trials(const std::string& strategy, double step_s, int count = 5) {
  std::vector<RunResult> runs;
  for (int trial = 0; trial < count; ++trial)
    runs.push_back(RunOf(strategy, step_s * (1 + 0.002 * trial), trial));
  return runs;
}

std::vector<RunResult> Together(std::vector<RunResult> a, const std::vector<RunResult>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

ComparisonResult Of(const std::vector<RunResult>& runs,
                    const std::vector<std::string>& varied = {}) {
  return BuildComparison(runs, {}, SampleProvenance(), {"", varied, {}});
}

TEST(ResultDiffTest, AResultAgainstItself) {
  const ComparisonResult result = Of(Together(Trials("ps", 0.010), Trials("ring", 0.012)));
  const ResultDiff diff = DiffResults(result, result, kTolerance);
  EXPECT_TRUE(diff.comparable);
  EXPECT_FALSE(diff.regressed);
  ASSERT_THAT(diff.rows, SizeIs(2));
  for (const DiffRow& row : diff.rows) {
    EXPECT_EQ(row.change, Change::kWithinTolerance);
    EXPECT_EQ(row.ratio.median(), 1);
  }
  EXPECT_THAT(diff.warnings, IsEmpty());
}

TEST(ResultDiffTest, ARegressionOfOneCell) {
  const ResultDiff diff =
      DiffResults(Of(Together(Trials("ps", 0.010), Trials("ring", 0.012))),
                  Of(Together(Trials("ps", 0.010), Trials("ring", 0.0132))), kTolerance);
  EXPECT_TRUE(diff.regressed);
  EXPECT_EQ(diff.rows[0].change, Change::kWithinTolerance);
  EXPECT_EQ(diff.rows[1].series, "ring");
  EXPECT_EQ(diff.rows[1].workers, 2);
  EXPECT_EQ(diff.rows[1].change, Change::kSlower);
  EXPECT_NEAR(diff.rows[1].ratio.median(), 1.1, 1e-6);
  const std::string text = DiffText(diff, kTolerance);
  EXPECT_THAT(text, HasSubstr("ring, 2 workers  12.0 ms  13.3 ms  1.100  1.0"));
  EXPECT_THAT(text, HasSubstr("  slower\n"));
  EXPECT_THAT(text, HasSubstr("1 significantly slower in B than in A, by more than 2.0 %\n"));
}

TEST(ResultDiffTest, AnImprovementIsNoRegression) {
  const ResultDiff diff =
      DiffResults(Of(Trials("ring", 0.012)), Of(Trials("ring", 0.010)), kTolerance);
  EXPECT_FALSE(diff.regressed);
  EXPECT_EQ(diff.rows[0].change, Change::kFaster);
}

TEST(ResultDiffTest, WhatIsToleratedIsNone) {
  EXPECT_FALSE(DiffResults(Of(Trials("ring", 0.010)), Of(Trials("ring", 0.0103)), 0.05).regressed);
  EXPECT_TRUE(DiffResults(Of(Trials("ring", 0.010)), Of(Trials("ring", 0.0103)), 0.01).regressed);
}

TEST(ResultDiffTest, OneTrialIsNotEnoughToTell) {
  const ResultDiff diff =
      DiffResults(Of(Trials("ring", 0.010)), Of(Trials("ring", 0.020, 1)), kTolerance);
  EXPECT_EQ(diff.rows[0].change, Change::kTooFewTrials);
  EXPECT_FALSE(diff.regressed);
}

TEST(ResultDiffTest, CellsOfOneSideAlone) {
  const ResultDiff diff =
      DiffResults(Of(Together(Trials("ps", 0.010), Trials("ring", 0.010))),
                  Of(Together(Trials("ps", 0.010), Trials("gloo", 0.010))), kTolerance);
  ASSERT_THAT(diff.rows, SizeIs(3));
  EXPECT_EQ(diff.rows[1].change, Change::kOnlyInA);
  EXPECT_EQ(diff.rows[2].change, Change::kOnlyInB);
  const ResultDiff none =
      DiffResults(Of(Trials("ps", 0.010)), Of(Trials("ring", 0.010)), kTolerance);
  EXPECT_FALSE(none.comparable);
  EXPECT_FALSE(none.regressed);
}

TEST(ResultDiffTest, PointsAreMatched) {
  std::vector<RunResult> a;
  std::vector<RunResult> b;
  for (const char* network : {"1gbit", "2gbit"}) {
    const bool slow = std::string(network) == "1gbit";
    for (RunResult& run : Trials("ring", slow ? 0.020 : 0.010)) {
      (*run.mutable_settings())["network"] = network;
      a.push_back(run);
    }
    if (slow) continue;
    for (RunResult& run : Trials("ring", 0.0101)) {
      (*run.mutable_settings())["network"] = network;
      b.push_back(run);
    }
  }
  // B knows nothing of a sweep: it has one of A's networks.
  const ResultDiff diff = DiffResults(Of(a, {"network"}), Of(b), kTolerance);
  ASSERT_THAT(diff.rows, SizeIs(2));
  EXPECT_EQ(diff.rows[0].point, "network 1gbit");
  EXPECT_EQ(diff.rows[0].change, Change::kOnlyInA);
  EXPECT_EQ(diff.rows[1].point, "network 2gbit");
  EXPECT_NEAR(diff.rows[1].ratio.median(), 1.01, 1e-6);
}

TEST(ResultDiffTest, WarnsOfWhatElseDiffers) {
  std::vector<RunResult> other = Trials("ring", 0.010);
  for (RunResult& run : other) {
    run.mutable_provenance()->set_build_commit("fffffff");
    run.mutable_provenance()->set_cpu_model("Another CPU");
    (*run.mutable_settings())["bucket_bytes"] = "1";
    run.set_global_batch_size(64);
  }
  other[0].mutable_worker_results(0)->set_parameters_sha256(std::string(64, 'b'));
  const ResultDiff diff = DiffResults(Of(Trials("ring", 0.010)), Of(other), kTolerance);
  EXPECT_THAT(diff.warnings,
              Contains("Other build: build commit is \"1f0c2d9\" in A and \"fffffff\" in B."));
  EXPECT_THAT(diff.warnings, Contains(StartsWith("Other machine: CPU model is")));
  EXPECT_THAT(diff.warnings, Contains(StartsWith("Other settings: bucket_bytes is")));
  EXPECT_THAT(diff.warnings,
              Contains(StartsWith("Other batch: that of ring with 2 workers is 128")));
  EXPECT_THAT(diff.warnings, Contains(StartsWith("B failed the gate equivalence")));
  std::vector<RunResult> wild = Trials("ring", 0.010);
  wild.push_back(RunOf("ring", 0.020, 9));
  EXPECT_THAT(DiffResults(Of(Trials("ring", 0.010)), Of(wild), kTolerance).warnings,
              Contains(StartsWith("Noisy in B: the trials of ring with 2 workers")));
}

// Draws results whose trials vary by a few percent around one time, as those of a busy machine.
class NoisyMachine {
 public:
  explicit NoisyMachine(uint64_t seed) : generator_(seed) {}

  // Its runs alone, which are all that a diff needs.
  ComparisonResult Run(double step_s) {
    ComparisonResult result;
    for (int workers : {1, 2, 4}) {
      for (int trial = 0; trial < 5; ++trial) {
        RunResult run = RunOf("ring", step_s, trial, workers);
        const double trial_factor = 1 + 0.04 * Noise();
        const int steps = run.worker_results(0).steps_size();
        for (int i = 0; i < steps; ++i) {
          const double step_factor = 1 + 0.02 * Noise();
          for (WorkerResult& worker : *run.mutable_worker_results())
            worker.mutable_steps(i)->set_step_s(step_s * trial_factor * step_factor);
        }
        *result.add_runs() = std::move(run);
      }
    }
    return result;
  }

 private:
  // Nearly normal, of deviation 1.
  double Noise() {
    double sum = -6;
    for (int i = 0; i < 12; ++i)
      sum += static_cast<double>(generator_() >> 11) / 9007199254740992.0;
    return sum;
  }

  std::mt19937_64 generator_;
};

TEST(ResultDiffTest, NoiseIsRarelyCalledARegression) {
  NoisyMachine machine(11);
  constexpr int kRepetitions = 100;
  int wrong = 0;
  for (int i = 0; i < kRepetitions; ++i) {
    const ComparisonResult before = machine.Run(0.010);
    if (DiffResults(before, machine.Run(0.010), 0).regressed) ++wrong;
  }
  EXPECT_LE(wrong, kRepetitions / 10);
}

TEST(ResultDiffTest, ARegressionIsFoundBehindNoise) {
  NoisyMachine machine(12);
  int found = 0;
  for (int i = 0; i < 20; ++i) {
    const ComparisonResult before = machine.Run(0.010);
    if (DiffResults(before, machine.Run(0.0125), kTolerance).regressed) ++found;
  }
  EXPECT_GE(found, 19);
}

}  // namespace
}  // namespace ringside
