#include "experiments/sweep/job_timer.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "experiments/signal_wait.h"

namespace ringside {
namespace {

class JobTimerTest : public ::testing::Test {
 protected:
  void SetUp() override { BlockJobSignals(); }
  void TearDown() override { UnblockJobSignals(); }
};

TEST_F(JobTimerTest, SendsSigtermWhenTheLimitIsOver) {
  JobTimer timer;
  ASSERT_TRUE(timer.Start(absl::Milliseconds(20)).ok());
  EXPECT_EQ(WaitForJobSignal(absl::Seconds(30)), SIGTERM);
  EXPECT_TRUE(timer.Expired());
}

TEST_F(JobTimerTest, IsSilentWithoutALimitAndOnceItIsGone) {
  {
    JobTimer endless;
    ASSERT_TRUE(endless.Start(absl::InfiniteDuration()).ok());
    EXPECT_FALSE(endless.Expired());
    JobTimer timer;
    ASSERT_TRUE(timer.Start(absl::Hours(1)).ok());
    EXPECT_FALSE(timer.Expired());
  }
  EXPECT_EQ(WaitForJobSignal(absl::ZeroDuration()), 0);
}

TEST_F(JobTimerTest, TakesBackWhatNobodyHasTakenButNotWhatOthersSent) {
  const auto await_expiry = [](const JobTimer& timer) {
    sigset_t pending;
    do {
      sigpending(&pending);
    } while (!timer.Expired() || sigismember(&pending, SIGTERM) == 0);
  };
  {
    JobTimer timer;
    ASSERT_TRUE(timer.Start(absl::Milliseconds(1)).ok());
    await_expiry(timer);
  }
  EXPECT_EQ(WaitForJobSignal(absl::ZeroDuration()), 0);
  {
    JobTimer timer;
    kill(getpid(), SIGTERM);
    ASSERT_TRUE(timer.Start(absl::Milliseconds(1)).ok());
    await_expiry(timer);
  }
  EXPECT_EQ(WaitForJobSignal(absl::ZeroDuration()), SIGTERM);
  EXPECT_EQ(WaitForJobSignal(absl::ZeroDuration()), 0);
}

}  // namespace
}  // namespace ringside
