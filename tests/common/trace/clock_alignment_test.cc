#include "common/trace/clock_alignment.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

TEST(ClockAlignmentTest, TheShortestRoundTripDecides) {
  // The coordinator's clock is 1,000 ahead; the second answer came in 40, after 10 of them.
  const ClockReading reading =
      ReadingOf({{100, 1150, 300}, {400, 1410, 440}, {500, 1570, 600}}, /*one_machine=*/false);
  EXPECT_EQ(reading.at_ns(), 420);
  EXPECT_EQ(reading.offset_ns(), 990);
  EXPECT_EQ(reading.error_ns(), 20);
  EXPECT_LE(std::abs(reading.offset_ns() - 1000), reading.error_ns());
}

TEST(ClockAlignmentTest, TheTruthIsWithinTheBoundHoweverTheWaysDiffer) {
  constexpr int64_t kTruth = -123456;
  for (int64_t there = 0; there <= 101; ++there) {
    const int64_t sent = 5000;
    const ClockReading reading =
        ReadingOf({{sent, sent + there + kTruth, sent + 101}}, /*one_machine=*/false);
    EXPECT_LE(std::abs(reading.offset_ns() - kTruth), reading.error_ns()) << there;
  }
}

TEST(ClockAlignmentTest, OneMachineHasOneClockUnlessItShowsOtherwise) {
  const ClockReading same = ReadingOf({{100, 120, 200}, {300, 390, 390}}, /*one_machine=*/true);
  EXPECT_EQ(same.offset_ns(), 0);
  EXPECT_EQ(same.error_ns(), 0);
  const ClockReading other = ReadingOf({{100, 5120, 200}, {300, 5350, 400}}, /*one_machine=*/true);
  EXPECT_EQ(other.offset_ns(), 4970);
  EXPECT_EQ(other.error_ns(), 50);
}

TEST(ClockAlignmentTest, TheOffsetDriftsEvenlyBetweenTheReadings) {
  ClockAlignment clock;
  EXPECT_EQ(CoordinatorTime(clock, 77), 77);  // the process is the whole job
  clock.mutable_first()->set_at_ns(1'000'000);
  clock.mutable_first()->set_offset_ns(500);
  clock.mutable_first()->set_error_ns(30);
  EXPECT_EQ(CoordinatorTime(clock, 2'000'000), 2'000'500);
  EXPECT_EQ(DriftPpm(clock), 0);
  clock.mutable_last()->set_at_ns(3'000'000);
  clock.mutable_last()->set_offset_ns(600);
  clock.mutable_last()->set_error_ns(40);
  EXPECT_EQ(CoordinatorTime(clock, 1'000'000), 1'000'500);
  EXPECT_EQ(CoordinatorTime(clock, 2'000'000), 2'000'550);
  EXPECT_EQ(CoordinatorTime(clock, 3'000'000), 3'000'600);
  EXPECT_EQ(CoordinatorTime(clock, 9'000'000), 9'000'600);
  EXPECT_EQ(CoordinatorTime(clock, 0), 500);
  EXPECT_DOUBLE_EQ(DriftPpm(clock), 50);
  EXPECT_EQ(ErrorBoundNs(clock), 40);
}

}  // namespace
}  // namespace ringside
