#include "experiments/report/crossovers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "experiments/report/comparison.h"
#include "tests/experiments/report/sample_runs.h"

namespace ringside {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

// Two trials that take this long.
Trials Steady(double step_s) { return {{step_s, step_s}, {step_s, step_s}}; }
// Trials so far apart that nothing can be told from them.
Trials Wild(double step_s) { return {{step_s / 3, step_s / 3}, {step_s * 3, step_s * 3}}; }

TEST(FindCrossoversTest, HalfWayOfTheLogarithms) {
  // Ratios 2 and 1/2: half way from ln 100 to ln 400.
  const auto found = FindCrossovers({{100, Steady(2), Steady(1)}, {400, Steady(1), Steady(2)}});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_FALSE(found[0].first_is_faster_below);
  EXPECT_TRUE(found[0].interpolated);
  EXPECT_EQ(found[0].below, 100);
  EXPECT_EQ(found[0].above, 400);
  EXPECT_NEAR(found[0].value.median, 200, 1e-9);
  EXPECT_NEAR(found[0].value.low, 200, 1e-9);
  EXPECT_NEAR(found[0].value.high, 200, 1e-9);
}

TEST(FindCrossoversTest, AThirdOfTheWay) {
  // ln 2 above 0, 2 ln 2 below it.
  const auto found = FindCrossovers({{100, Steady(2), Steady(1)}, {800, Steady(1), Steady(4)}});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_NEAR(found[0].value.median, 200, 1e-9);
}

TEST(FindCrossoversTest, LinearWhereAPlaceHasNoLogarithm) {
  const auto found = FindCrossovers({{0, Steady(1), Steady(2)}, {90, Steady(4), Steady(1)}});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_TRUE(found[0].first_is_faster_below);
  EXPECT_NEAR(found[0].value.median, 30, 1e-9);
}

TEST(FindCrossoversTest, TheIntervalIsThatOfTheTrials) {
  // The second takes 20 or 40 on the right: a quarter of the resamples have a ratio of 1/2 there, a
  // quarter one of 1/4, the others, as measured, 1/3.
  const auto found =
      FindCrossovers({{100, Steady(20), Steady(10)}, {400, Steady(10), {{20, 20}, {40, 40}}}});
  ASSERT_THAT(found, SizeIs(1));
  const double share = std::log(2) / (std::log(2) + std::log(3));
  EXPECT_NEAR(found[0].value.median, 100 * std::pow(4, share), 1e-9);
  EXPECT_NEAR(found[0].value.low, 100 * std::pow(4, 1.0 / 3), 1e-9);
  EXPECT_NEAR(found[0].value.high, 200, 1e-9);
}

TEST(FindCrossoversTest, BetweenPlacesWithoutADifferenceItIsOnlyBracketed) {
  const auto found = FindCrossovers({{100, Steady(2), Steady(1)},
                                     {200, Wild(4), Wild(4)},
                                     {400, Wild(1), Wild(2)},
                                     {800, Steady(1), Steady(2)}});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_FALSE(found[0].interpolated);
  EXPECT_EQ(found[0].value.low, 100);
  EXPECT_EQ(found[0].value.high, 800);
  EXPECT_GE(found[0].value.median, 100);
  EXPECT_LE(found[0].value.median, 400);
}

TEST(FindCrossoversTest, NoneWhereNothingCrossesOrIsSure) {
  EXPECT_THAT(FindCrossovers({}), IsEmpty());
  EXPECT_THAT(FindCrossovers({{1, Steady(2), Steady(1)}, {2, Steady(3), Steady(1)}}), IsEmpty());
  EXPECT_THAT(FindCrossovers({{1, Wild(2), Wild(1)}, {2, Wild(1), Wild(2)}}), IsEmpty());
  EXPECT_THAT(FindCrossovers({{1, Steady(2), Steady(1)}, {2, Wild(1), Wild(2)}}), IsEmpty());
  // One trial is not enough to tell.
  EXPECT_THAT(FindCrossovers({{1, {{2, 2}}, {{1, 1}}}, {2, {{1, 1}}, {{2, 2}}}}), IsEmpty());
}

TEST(FindCrossoversTest, ThereAndBack) {
  const auto found = FindCrossovers(
      {{1, Steady(2), Steady(1)}, {4, Steady(1), Steady(2)}, {16, Steady(2), Steady(1)}});
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_NEAR(found[0].value.median, 2, 1e-9);
  EXPECT_NEAR(found[1].value.median, 8, 1e-9);
  EXPECT_NE(found[0].first_is_faster_below, found[1].first_is_faster_below);
}

RunResult RunAt(const std::string& strategy, const std::string& network, double step_s, int trial,
                int workers = 4) {
  SampleRun sample;
  sample.strategy = strategy;
  sample.workers = workers;
  sample.batch_size = 128 / workers;
  sample.trial = trial;
  sample.step_s = step_s;
  RunResult run = MakeRun(sample);
  (*run.mutable_settings())["network"] = network;
  return run;
}

ComparisonResult SweepOfNetworks() {
  std::vector<RunResult> runs;
  for (int trial = 0; trial < 2; ++trial) {
    runs.push_back(RunAt("ps", "100mbit,50us", 0.040, trial));
    runs.push_back(RunAt("ring", "100mbit,50us", 0.020, trial));
    runs.push_back(RunAt("ps", "400mbit,50us", 0.010, trial));
    runs.push_back(RunAt("ring", "400mbit,50us", 0.020, trial));
  }
  return BuildComparison(runs, {}, SampleProvenance(), {"Where do they cross?", {"network"}, {}});
}

TEST(BuildCrossoversTest, AlongTheBandwidth) {
  const ComparisonResult comparison = SweepOfNetworks();
  ASSERT_EQ(comparison.crossovers_size(), 1);
  const Crossover& crossover = comparison.crossovers(0);
  EXPECT_EQ(crossover.setting(), "network");
  EXPECT_EQ(crossover.unit(), "Mbit/s");
  EXPECT_EQ(crossover.workers(), 4);
  EXPECT_EQ(crossover.point_size(), 0);
  EXPECT_EQ(crossover.faster_below(), "ring");
  EXPECT_EQ(crossover.faster_above(), "ps");
  EXPECT_NEAR(crossover.value().median(), 200, 1e-6);
  EXPECT_EQ(
      comparison.verdict(0),
      "Crossover along network bandwidth, 4 workers: ring is faster below 200 Mbit/s, ps above "
      "(95 % interval 200 Mbit/s to 200 Mbit/s; measured at 100 Mbit/s and 400 Mbit/s)");
}

TEST(BuildCrossoversTest, NoVerdictOnThemWhereAGateFailed) {
  ComparisonResult comparison = SweepOfNetworks();
  std::vector<RunResult> runs(comparison.runs().begin(), comparison.runs().end());
  runs[0].mutable_worker_results(1)->set_parameters_sha256(std::string(64, 'b'));
  comparison = BuildComparison(runs, {}, SampleProvenance(), {"", {"network"}, {}});
  for (const std::string& line : comparison.verdict())
    EXPECT_THAT(line, Not(StartsWith("Crossover")));
  EXPECT_EQ(comparison.crossovers_size(), 0);
}

TEST(BuildCrossoversTest, AlongTheWorkersWithoutARingOfOne) {
  std::vector<RunResult> runs;
  for (int trial = 0; trial < 2; ++trial) {
    for (int workers : {1, 2, 4}) {
      // A ring of one is faster, but sends nothing; of 2 it is slower, of 4 faster.
      runs.push_back(RunAt("ps", "", 0.010, trial, workers));
      runs.push_back(RunAt("ring", "", workers == 2 ? 0.020 : 0.005, trial, workers));
    }
  }
  const ComparisonResult comparison = BuildComparison(runs, {}, SampleProvenance());
  ASSERT_EQ(comparison.crossovers_size(), 1);
  EXPECT_EQ(comparison.crossovers(0).setting(), "workers");
  EXPECT_EQ(comparison.crossovers(0).workers(), 0);
  EXPECT_EQ(comparison.crossovers(0).faster_below(), "ps");
  EXPECT_NEAR(comparison.crossovers(0).value().median(), std::sqrt(8), 1e-9);
  EXPECT_THAT(comparison.verdict(0), StartsWith("Crossover along workers: ps is faster below 2.83 "
                                                "workers, ring above"));
}

TEST(BuildCrossoversTest, ARingStandsBesideEveryNumberOfShards) {
  std::vector<RunResult> runs;
  for (int trial = 0; trial < 2; ++trial) {
    runs.push_back(RunAt("ring", "", 0.010, trial));
    for (int shards : {1, 4}) {
      SampleRun sample;
      sample.strategy = "ps";
      sample.workers = 4;
      sample.batch_size = 32;
      sample.shards = shards;
      sample.trial = trial;
      sample.step_s = shards == 1 ? 0.020 : 0.005;
      runs.push_back(MakeRun(sample));
      (*runs.back().mutable_settings())["network"] = "";
    }
  }
  const ComparisonResult comparison =
      BuildComparison(runs, {}, SampleProvenance(), {"", {"ps_shards"}, {}});
  ASSERT_EQ(comparison.crossovers_size(), 1);
  EXPECT_EQ(comparison.crossovers(0).setting(), "ps_shards");
  EXPECT_NEAR(comparison.crossovers(0).value().median(), 2, 1e-9);
  EXPECT_THAT(comparison.verdict(),
              Contains(HasSubstr("4 workers, shards 4: ps is 2.00 times as fast as ring")));
}

}  // namespace
}  // namespace ringside
