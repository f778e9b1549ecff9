#include "experiments/report/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ringside {
namespace {

TEST(PercentileTest, InterpolatesBetweenNeighbours) {
  const std::vector<double> values = {40, 10, 30, 20};
  EXPECT_EQ(Percentile(values, 0), 10);
  EXPECT_EQ(Percentile(values, 1), 40);
  EXPECT_EQ(Percentile(values, 0.5), 25);         // h = 1.5
  EXPECT_EQ(Percentile(values, 0.25), 17.5);      // h = 0.75
  EXPECT_DOUBLE_EQ(Percentile(values, 0.9), 37);  // h = 2.7
}

TEST(PercentileTest, OfOneValueAndOfNone) {
  EXPECT_EQ(Percentile({7}, 0.99), 7);
  EXPECT_EQ(Percentile({}, 0.5), 0);
}

TEST(MedianTest, OddAndEven) {
  EXPECT_EQ(Median({3, 1, 2}), 2);
  EXPECT_EQ(Median({4, 1, 2, 3}), 2.5);
}

TEST(MeanTest, OfNoneIsZero) {
  EXPECT_EQ(Mean({}), 0);
  EXPECT_EQ(Mean({1, 2, 6}), 3);
}

TEST(MedianAbsoluteDeviationTest, ByHand) {
  // Median 2; distances 1 1 0 0 2 4 7, sorted 0 0 1 1 2 4 7.
  EXPECT_EQ(MedianAbsoluteDeviation({1, 1, 2, 2, 4, 6, 9}), 1);
  EXPECT_EQ(MedianAbsoluteDeviation({}), 0);
}

TEST(CoefficientOfVariationTest, ByHand) {
  // Mean 4, squares 4 + 0 + 4 = 8, variance 8 / 2 = 4, deviation 2.
  EXPECT_EQ(CoefficientOfVariation({2, 4, 6}), 0.5);
  EXPECT_EQ(CoefficientOfVariation({5}), 0);
  EXPECT_EQ(CoefficientOfVariation({-1, 1}), 0);
}

TEST(MedianIntervalTest, EqualSamplesHaveNoWidth) {
  const IntervalEstimate interval = MedianInterval({{3, 3, 3}, {3, 3}});
  EXPECT_EQ(interval.low, 3);
  EXPECT_EQ(interval.median, 3);
  EXPECT_EQ(interval.high, 3);
}

TEST(MedianIntervalTest, TwoTrialsThatDifferSpanBoth) {
  // Trials are drawn whole: a quarter of the resamples see only the first, a quarter only the
  // second.
  const IntervalEstimate interval = MedianInterval({{1, 1, 1}, {2, 2, 2}});
  EXPECT_EQ(interval.low, 1);
  EXPECT_EQ(interval.median, 1.5);
  EXPECT_EQ(interval.high, 2);
}

TEST(MedianIntervalTest, ManyStepsOfOneTrialDoNotHideThatTrialsDiffer) {
  std::vector<double> fast(500, 1.0);
  std::vector<double> slow(500, 2.0);
  EXPECT_EQ(MedianInterval({fast, slow}).low, 1);
  EXPECT_EQ(MedianInterval({fast, slow}).high, 2);
}

TEST(MedianIntervalTest, IsTheSameEveryTime) {
  const Trials trials = {{1, 5, 2, 8}, {3, 1, 9, 4}, {2, 2, 7, 3}};
  const IntervalEstimate first = MedianInterval(trials);
  const IntervalEstimate second = MedianInterval(trials);
  EXPECT_EQ(first.low, second.low);
  EXPECT_EQ(first.high, second.high);
  EXPECT_LE(first.low, first.median);
  EXPECT_LE(first.median, first.high);
}

TEST(MedianIntervalTest, CoversTheTrueMedianAboutAsOftenAsItSays) {
  // Thirty trials of one step each, evenly spread around 0.
  int covered = 0;
  constexpr int kRepetitions = 60;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    Trials trials;
    for (int i = 0; i < 30; ++i) {
      const double u = std::fmod((repetition * 30 + i + 1) * 0.6180339887498949 * 7, 1.0);
      trials.push_back({u - 0.5});
    }
    const IntervalEstimate interval = MedianInterval(trials);
    if (interval.low <= 0 && interval.high >= 0) ++covered;
  }
  EXPECT_GE(covered, kRepetitions * 9 / 10);
}

TEST(MedianIntervalTest, WithoutSamples) {
  EXPECT_EQ(MedianInterval({}).high, 0);
  EXPECT_EQ(MedianInterval({{}, {}}).high, 0);
  EXPECT_EQ(MedianInterval({{}, {4}}).median, 4);
}

TEST(MedianRatioIntervalTest, OfConstants) {
  const IntervalEstimate ratio = MedianRatioInterval({{3, 3}, {3, 3}}, {{2, 2}, {2, 2}});
  EXPECT_EQ(ratio.low, 1.5);
  EXPECT_EQ(ratio.median, 1.5);
  EXPECT_EQ(ratio.high, 1.5);
}

TEST(MedianRatioIntervalTest, SidesAreResampledOnTheirOwn) {
  // Were the draws paired, equal sides would always give 1.
  const Trials trials = {{1, 1}, {2, 2}};
  const IntervalEstimate ratio = MedianRatioInterval(trials, trials);
  EXPECT_EQ(ratio.low, 0.5);
  EXPECT_EQ(ratio.median, 1);
  EXPECT_EQ(ratio.high, 2);
}

TEST(MedianRatioIntervalTest, WithoutSamples) {
  EXPECT_EQ(MedianRatioInterval({{1}}, {}).median, 0);
  EXPECT_EQ(MedianRatioInterval({}, {{1}}).median, 0);
}

}  // namespace
}  // namespace ringside
