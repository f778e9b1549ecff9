#include "allreduce/bench/measurement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

RankDone Answer(const std::vector<double>& durations_s, int64_t wrong = 0) {
  RankDone answer;
  for (const double each : durations_s) answer.add_durations_s(each);
  answer.set_verified(true);
  answer.set_wrong(wrong);
  return answer;
}

RankDone AnswerWithTraffic(int64_t sent, int64_t expected) {
  RankDone answer = Answer({1});
  answer.set_traffic_counted(true);
  answer.mutable_traffic()->set_payload_bytes_sent(sent);
  answer.mutable_expected_traffic()->set_payload_bytes_sent(expected);
  return answer;
}

AllReduceMeasurement Timed(const std::string& name, double time_us, const std::string& ceiling) {
  AllReduceMeasurement measurement;
  measurement.set_contender(name);
  measurement.set_world_size(2);
  measurement.set_bytes(1024);
  measurement.set_time_us(time_us);
  measurement.set_ceiling(ceiling);
  return measurement;
}

TEST(IterationsForTest, FillsTheTimeWithinBounds) {
  EXPECT_EQ(IterationsFor(4 << 10, 1e-3, absl::Milliseconds(500)), 500);
  EXPECT_EQ(IterationsFor(4 << 10, 1e-3, absl::Milliseconds(50)), 200);
  EXPECT_EQ(IterationsFor(4 << 10, 1e-6, absl::Milliseconds(50)), 20000);
  EXPECT_EQ(IterationsFor(4 << 10, 0, absl::Milliseconds(50)), 20000);
  EXPECT_EQ(IterationsFor(1 << 20, 1, absl::Milliseconds(50)), 64);
  EXPECT_EQ(IterationsFor(100 << 20, 1, absl::Milliseconds(50)), 5);
}

TEST(MeasureTest, ReportsTheMedianOverAllRoundsAndItsBandwidths) {
  const Contender ring = *FindContender("ring_tcp");
  const AllReduceMeasurement measurement = Measure(
      ring, 4, 4000, "fp32", false,
      {{Answer({1e-3, 3e-3}), Answer({3e-3, 5e-3}), Answer({1e-3, 3e-3}), Answer({3e-3, 5e-3})},
       {Answer({3e-3}), Answer({3e-3}), Answer({3e-3}), Answer({3e-3})}});
  EXPECT_EQ(measurement.contender(), "ring_tcp");
  EXPECT_EQ(measurement.elements(), 1000);
  EXPECT_EQ(measurement.samples(), 3);  // 2 ms, 4 ms, 3 ms
  EXPECT_DOUBLE_EQ(measurement.time_us(), 3000);
  EXPECT_DOUBLE_EQ(measurement.min_us(), 2000);
  EXPECT_DOUBLE_EQ(measurement.algbw_gb_per_s(), 4000 / 3e-3 / 1e9);
  EXPECT_DOUBLE_EQ(measurement.busbw_gb_per_s(), 1.5 * measurement.algbw_gb_per_s());
  EXPECT_THAT(measurement.round_median_us(),
              ElementsAre(testing::DoubleEq(3000), testing::DoubleEq(3000)));
  EXPECT_EQ(measurement.ceiling(), "raw_tcp");
  EXPECT_FALSE(measurement.traffic_counted());
}

TEST(MeasureTest, AddsUpWrongElementsAndTraffic) {
  const Contender ring = *FindContender("ring_tcp");
  EXPECT_EQ(Measure(ring, 2, 4, "fp32", false, {{Answer({1}, 1), Answer({1}, 2)}, {Answer({1}, 4)}})
                .wrong(),
            7);
  const AllReduceMeasurement measurement =
      Measure(ring, 2, 4, "fp32", false, {{AnswerWithTraffic(5, 6), AnswerWithTraffic(7, 6)}});
  EXPECT_TRUE(measurement.traffic_counted());
  EXPECT_EQ(measurement.traffic().payload_bytes_sent(), 12);
  EXPECT_TRUE(TrafficAsExpected(measurement));
}

TEST(AddCeilingSharesTest, DividesTheTimes) {
  std::vector<AllReduceMeasurement> measurements = {
      Timed("raw_tcp", 80, ""), Timed("ring_tcp", 100, "raw_tcp"), Timed("direct", 1, "memory")};
  AddCeilingShares(&measurements);
  EXPECT_EQ(measurements[0].ceiling_share(), 0);
  EXPECT_DOUBLE_EQ(measurements[1].ceiling_share(), 0.8);
  EXPECT_EQ(measurements[2].ceiling_share(), 0) << "its ceiling was not measured";
}

TEST(CheckMeasurementsTest, NamesWhoIsWrong) {
  AllReduceMeasurement right = Timed("ring_shm", 1, "");
  AllReduceMeasurement wrong = Timed("ring_tcp", 1, "");
  wrong.set_wrong(3);
  AllReduceMeasurement off = Timed("direct", 1, "");
  off.set_traffic_counted(true);
  off.mutable_traffic()->set_messages_sent(2);
  EXPECT_TRUE(CheckMeasurements({right}).ok());
  const absl::Status status = CheckMeasurements({right, wrong, off});
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("ring_tcp, 2 ranks, 1K: 3 elements are wrong; direct, 2 ranks, 1K: counted "
                        "messages_sent: 2"));
}

}  // namespace
}  // namespace ringside
