#include "ps_server/termination_signal.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "absl/time/clock.h"
#include "common/mutex.h"

namespace ringside {
namespace {

using ::testing::ExitedWithCode;

// A process that saves something when it is told to end.
class Saver {
 public:
  void Save() {
    MutexLock lock(&mutex_);
    saving_ = true;
    changed_.NotifyAll();
    // Longer than it takes to end, were that possible meanwhile.
    const absl::Time deadline = absl::Now() + absl::Milliseconds(100);
    while (!gone_ && changed_.WaitUntil(&mutex_, deadline)) {
    }
    std::fputs(gone_ ? "gone\n" : "saved\n", stderr);
  }
  void AwaitSaving() {
    MutexLock lock(&mutex_);
    while (!saving_) changed_.Wait(&mutex_);
  }
  void Go() {
    MutexLock lock(&mutex_);
    gone_ = true;
    changed_.NotifyAll();
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  bool saving_ ABSL_GUARDED_BY(mutex_) = false;
  bool gone_ ABSL_GUARDED_BY(mutex_) = false;
};

class TerminationSignalTest : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(TerminationSignalTest, WhatIsKeptIsSavedBeforeTheProcessEnds) {
  EXPECT_EXIT(
      {
        Saver saver;
        const TerminationSignal signal([&saver] { saver.Save(); });
        kill(getpid(), SIGTERM);
        while (true) pause();
      },
      ExitedWithCode(128 + SIGTERM), "saved");
}

TEST_F(TerminationSignalTest, WhatIsSavedStaysUntilThen) {
  EXPECT_EXIT(
      {
        Saver saver;
        auto signal = std::make_unique<TerminationSignal>([&saver] { saver.Save(); });
        kill(getpid(), SIGTERM);
        saver.AwaitSaving();
        signal.reset();  // the process ends first
        saver.Go();
        std::_Exit(0);
      },
      ExitedWithCode(128 + SIGTERM), "saved");
}

TEST_F(TerminationSignalTest, EndsTheProcessAtOnceWhereThereIsNothingToSaveAnyMore) {
  EXPECT_EXIT(
      {
        std::make_unique<TerminationSignal>([] { std::fputs("saved\n", stderr); }).reset();
        kill(getpid(), SIGTERM);
        while (true) pause();
      },
      ExitedWithCode(128 + SIGTERM), "^$");
}

}  // namespace
}  // namespace ringside
