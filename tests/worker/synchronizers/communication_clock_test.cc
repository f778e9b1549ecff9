#include "worker/synchronizers/communication_clock.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

absl::Time At(int64_t milliseconds) { return absl::UnixEpoch() + absl::Milliseconds(milliseconds); }

void ExpectTimes(const CommunicationTimes& times, int64_t hidden_ms, int64_t exposed_ms) {
  EXPECT_EQ(times.hidden, absl::Milliseconds(hidden_ms));
  EXPECT_EQ(times.exposed, absl::Milliseconds(exposed_ms));
}

TEST(CommunicationClockTest, ABucketThatOutlastsBackwardIsPartlyHidden) {
  CommunicationClock clock;
  clock.Submitted(At(10));
  clock.BackwardEnded(At(14));
  clock.Summed(At(20));
  ExpectTimes(clock.Finished(At(21)), 4, 7);
}

TEST(CommunicationClockTest, PausesBetweenBucketsDoNotCountAndOverlapsCountOnce) {
  CommunicationClock clock;
  clock.Submitted(At(0));
  clock.Submitted(At(3));
  clock.Summed(At(5));
  clock.Summed(At(8));  // 0 to 8
  clock.Submitted(At(20));
  clock.Summed(At(22));  // 20 to 22
  clock.BackwardEnded(At(30));
  ExpectTimes(clock.Finished(At(30)), 10, 0);
}

TEST(CommunicationClockTest, ABucketMayHaveManyParts) {
  CommunicationClock clock;
  clock.Submitted(At(0), 3);
  clock.Summed(At(1));
  clock.Summed(At(2));
  clock.Summed(At(6));
  clock.BackwardEnded(At(9));
  ExpectTimes(clock.Finished(At(9)), 6, 0);
}

TEST(CommunicationClockTest, NothingIsHiddenOfWhatComesAfterBackward) {
  CommunicationClock clock;
  clock.BackwardEnded(At(5));
  clock.Submitted(At(5));
  clock.BackwardEnded(At(6));  // the first call counts
  clock.Submitted(At(6));
  clock.Summed(At(7));
  clock.BackwardEnded(At(8));
  clock.Summed(At(9));
  ExpectTimes(clock.Finished(At(10)), 0, 5);
}

TEST(CommunicationClockTest, EveryStepStartsAnew) {
  CommunicationClock clock;
  clock.Submitted(At(0));
  clock.BackwardEnded(At(1));
  clock.Summed(At(2));
  ExpectTimes(clock.Finished(At(2)), 1, 1);
  clock.Submitted(At(100));
  clock.Summed(At(103));
  clock.BackwardEnded(At(110));
  ExpectTimes(clock.Finished(At(111)), 3, 1);
}

TEST(CommunicationClockTest, AStepWithoutCommunicationTakesNoTime) {
  ExpectTimes(CommunicationClock().Finished(At(7)), 0, 0);
}

}  // namespace
}  // namespace ringside
