#include "experiments/sweep/time_left.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

SweepJob Job(const std::string& label, int workers, int point) {
  SweepJob job;
  job.label = label;
  job.job.workers = workers;
  job.points = {point};
  return job;
}

TEST(TimeLeftTest, NothingIsKnownBeforeTheFirstJobEnds) {
  TimeLeft time_left({Job("ring", 2, 0), Job("ring", 2, 0)});
  EXPECT_FALSE(time_left.Left(absl::Seconds(1)).has_value());
  EXPECT_EQ(time_left.total(), 2u);
}

TEST(TimeLeftTest, JobsTakeAsLongAsThoseMostLikeThem) {
  TimeLeft time_left({Job("ring", 2, 0), Job("ps", 2, 0), Job("ring", 2, 1), Job("ps", 4, 1),
                      Job("ring", 2, 0), Job("ps", 2, 1)});
  time_left.Finished(0, absl::Seconds(10));
  // Any job is as good as another.
  EXPECT_EQ(time_left.Left(absl::ZeroDuration()), absl::Seconds(50));
  time_left.Finished(1, absl::Seconds(20));
  // ring at another point: 10; ps with other workers: the mean of all, 15; ring again: 10; ps: 20.
  EXPECT_EQ(time_left.Left(absl::ZeroDuration()), absl::Seconds(10 + 15 + 10 + 20));
  time_left.Finished(2, absl::Seconds(30));
  // The last ring has one at its own point.
  EXPECT_EQ(time_left.Left(absl::ZeroDuration()), absl::Seconds(20 + 10 + 20));
  EXPECT_EQ(time_left.finished(), 3u);
}

TEST(TimeLeftTest, TheJobThatRunsCountsUpToWhatIsExpectedOfIt) {
  TimeLeft time_left({Job("ring", 2, 0), Job("ring", 2, 0), Job("ring", 2, 0)});
  time_left.Finished(0, absl::Seconds(10));
  EXPECT_EQ(time_left.Left(absl::Seconds(4)), absl::Seconds(16));
  EXPECT_EQ(time_left.Left(absl::Seconds(40)), absl::Seconds(10));
  time_left.Finished(1, absl::Seconds(10));
  time_left.Finished(2, absl::Seconds(10));
  EXPECT_EQ(time_left.Left(absl::ZeroDuration()), absl::ZeroDuration());
}

TEST(TimeLeftTest, SaysItInOneLine) {
  EXPECT_EQ(FormatSweepProgress(0, 27, absl::nullopt), "[----------] 0/27");
  EXPECT_EQ(FormatSweepProgress(9, 27, absl::Seconds(754)), "[###-------] 9/27, 12:34 left");
  EXPECT_EQ(FormatSweepProgress(27, 27, absl::ZeroDuration()), "[##########] 27/27, 0:00 left");
}

}  // namespace
}  // namespace ringside
