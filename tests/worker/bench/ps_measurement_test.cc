#include "worker/bench/ps_measurement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

RankDone Answer(const std::vector<double>& seconds, int64_t wrong = 0) {
  RankDone done;
  for (const double each : seconds) done.add_durations_s(each);
  done.set_verified(true);
  done.set_wrong(wrong);
  return done;
}

PsMeasurement Timed(const std::string& contender, double time_us) {
  PsMeasurement measurement;
  measurement.set_contender(contender);
  measurement.set_time_us(time_us);
  return measurement;
}

TEST(PsMeasurementTest, OfAnExchangeTheWorkersMeasure) {
  EXPECT_THAT(TurnSamples({2, 1}, {Answer({1, 2}), Answer({3, 4}), Answer({})}), ElementsAre(2, 3));
}

TEST(PsMeasurementTest, OfTheMemoryCeilingFoldingAndCopyingAddUp) {
  EXPECT_THAT(TurnSamples({2, 2}, {Answer({1}), Answer({3}), Answer({10}), Answer({20})}),
              ElementsAre(17));
  EXPECT_THAT(TurnSamples({2, 2}, {Answer({}), Answer({}), Answer({10}), Answer({})}),
              ElementsAre(10));
}

TEST(PsMeasurementTest, TheMedianIsOverAllRounds) {
  const PsContender contender = {"ps/grpc_tcp", PsContender::Kind::kServer, "grpc_tcp",
                                 "raw/grpc_tcp"};
  const PsMeasurement measurement =
      MeasurePs(contender, {1, 1}, 8'000'000,
                {{Answer({1e-3, 2e-3}), Answer({})}, {Answer({3e-3}, 2), Answer({})}});
  EXPECT_DOUBLE_EQ(measurement.time_us(), 2000);
  EXPECT_DOUBLE_EQ(measurement.min_us(), 1000);
  EXPECT_DOUBLE_EQ(measurement.gb_per_s(), 4);
  EXPECT_EQ(measurement.samples(), 3);
  EXPECT_EQ(measurement.wrong(), 2);
  EXPECT_THAT(measurement.round_median_us(), ElementsAre(1500, 3000));
  EXPECT_THAT(std::string(CheckPsMeasurements({measurement}).message()),
              HasSubstr("ps/grpc_tcp with 1/1 workers/shards"));
}

TEST(PsMeasurementTest, TheFasterOfTwoCeilingsCounts) {
  std::vector<PsMeasurement> measurements = {Timed("raw/grpc_tcp/callback", 90),
                                             Timed("raw/grpc_tcp/sync", 80),
                                             Timed("ps/grpc_tcp", 100), Timed("ps/shm", 100)};
  measurements[2].set_ceiling("raw/grpc_tcp");
  measurements[3].set_ceiling("memory");
  AddPsCeilingShares(&measurements);
  EXPECT_DOUBLE_EQ(measurements[2].ceiling_share(), 0.8);
  EXPECT_EQ(measurements[3].ceiling_share(), 0);
  EXPECT_EQ(measurements[0].ceiling_share(), 0);
}

TEST(PsMeasurementTest, ACeilingOfAnotherCaseDoesNotCount) {
  std::vector<PsMeasurement> measurements = {Timed("memory", 80), Timed("ps/shm", 100)};
  measurements[1].set_ceiling("memory");
  measurements[1].set_workers(4);
  EXPECT_EQ(FastestCeiling(measurements, measurements[1]), nullptr);
}

TEST(PsMeasurementTest, MemoryBeyondArenasAndParkedFramesIsNeverNegative) {
  RankDone shard;
  (*shard.mutable_numbers())["peak_rss_bytes"] = 100;
  (*shard.mutable_numbers())["arena_bytes"] = 60;
  (*shard.mutable_numbers())["parked_bytes"] = 30;
  RankDone small = shard;
  (*small.mutable_numbers())["peak_rss_bytes"] = 80;
  const auto memory = ShardMemoryOf({"ps/grpc_tcp", PsContender::Kind::kServer, "grpc_tcp", ""},
                                    {1, 2}, 4, {Answer({}), shard, small});
  ASSERT_EQ(memory.size(), 2u);
  EXPECT_EQ(memory[0].excess_bytes(), 10);
  EXPECT_EQ(memory[1].shard(), 1);
  EXPECT_EQ(memory[1].excess_bytes(), 0);
}

}  // namespace
}  // namespace ringside
