#include "allreduce/bench/sample_statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SummarizeTest, OfOneSampleIsThatSample) {
  const SampleStatistics statistics = Summarize({3});
  EXPECT_EQ(statistics.min, 3);
  EXPECT_EQ(statistics.median, 3);
  EXPECT_EQ(statistics.p99, 3);
  EXPECT_EQ(statistics.mean, 3);
  EXPECT_EQ(statistics.cv, 0);
}

TEST(SummarizeTest, InterpolatesAndIgnoresTheOrder) {
  const SampleStatistics statistics = Summarize({4, 1, 3, 2});
  EXPECT_EQ(statistics.min, 1);
  EXPECT_EQ(statistics.median, 2.5);
  EXPECT_DOUBLE_EQ(statistics.p99, 3.97);
  EXPECT_EQ(statistics.mean, 2.5);
  EXPECT_DOUBLE_EQ(statistics.cv, std::sqrt(1.25) / 2.5);
}

TEST(SummarizeTest, OfNothingIsZero) {
  EXPECT_EQ(Summarize({}).median, 0);
  EXPECT_EQ(Summarize({}).cv, 0);
}

TEST(MeanOverRanksTest, IsTakenIterationByIteration) {
  EXPECT_THAT(MeanOverRanks({{1, 10}, {3, 30}}), ElementsAre(2, 20));
}

TEST(MeanOverRanksTest, LeavesOutRanksThatTookNoPart) {
  EXPECT_THAT(MeanOverRanks({{1, 2}, {}, {3, 4}, {}}), ElementsAre(2, 3));
  EXPECT_THAT(MeanOverRanks({{}, {}}), IsEmpty());
}

}  // namespace
}  // namespace ringside
