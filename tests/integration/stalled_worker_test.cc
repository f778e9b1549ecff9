// A worker that is stopped (SIGSTOP) in the middle of a push, or before it reads its results: the
// memory of the shard stays within its bound while the other worker goes on as far as it can. Then
// the job ends well if the worker goes on, and names it if it is killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/integration/scripted_job.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kMiB = 1 << 20;
// What a shard may hold beside its state and one step's parked frames; see worker_stream.h.
constexpr int64_t kBound = 64 * kMiB;
constexpr int kFast = 0;
constexpr int kStalled = 1;
constexpr int kBuckets = 8;

// RssAnon of /proc/PID/status: what a process has allocated, and not what it shares.
int64_t AnonymousBytes(pid_t pid) {
  std::ifstream status(absl::StrCat("/proc/", pid, "/status"));
  std::string word;
  int64_t kib = -1;
  while (status >> word) {
    if (word == "RssAnon:" && status >> kib) return kib * 1024;
  }
  return -1;
}

class StalledWorkerTest : public ::testing::Test {
 protected:
  // Two workers, one shard, TCP; `mib` of gradients a step.
  void Start(int64_t mib, int64_t steps, const std::vector<std::string>& scripts,
             std::vector<std::string> flags = {}) {
    ScriptedJob::Config config;
    config.model = {kBuckets, mib * kMiB / 4 / kBuckets};
    config.scripts = scripts;
    config.flags = std::move(flags);
    config.flags.insert(config.flags.end(),
                        {"--ps_link=grpc_tcp", absl::StrCat("--steps=", steps)});
    config.lease = absl::Seconds(20);  // of which the worker may be stopped for 14 s
    steps_ = steps;
    job_ = std::make_unique<ScriptedJob>(std::move(config));
  }

  // Both workers have finished some steps, so that all buffers have been used, and hold.
  void AwaitQuiet(int64_t step) {
    ASSERT_TRUE(job_->AwaitHalt(kFast, step, 0)) << job_->Outputs();
    ASSERT_TRUE(job_->AwaitHalt(kStalled, step, 0)) << job_->Outputs();
    // So that a verdict has a step to name.
    ASSERT_TRUE(job_->AwaitReported(kStalled, 1)) << job_->Outputs();
    before_ = AnonymousBytes(job_->shard(0).pid());
    ASSERT_GT(before_, 0);
    peak_ = before_;
  }

  // Waits until `condition` holds and watches the shard's memory meanwhile.
  bool Watch(const std::function<bool()>& condition) {
    return AwaitCondition(
        [&] {
          peak_ = std::max(peak_, AnonymousBytes(job_->shard(0).pid()));
          return condition();
        },
        kSoon);
  }

  // The fast worker has sent all that it has, and the shard has taken it.
  bool AwaitAllOfFast(int64_t step, int64_t of_stalled) {
    return job_->AwaitHalt(kFast, step, kBuckets) && Watch([&] {
             return job_->FramesReceived() >= job_->UnitsSubmitted(kFast) + of_stalled;
           });
  }

  // `state`: what a shard of this mode has for good.
  void ExpectBoundedMemory(int64_t state, int64_t parked) {
    RecordProperty("before_bytes", absl::StrCat(before_));
    RecordProperty("peak_bytes", absl::StrCat(peak_));
    std::cout << "RssAnon of the shard: " << before_ / kMiB << " MiB before, " << peak_ / kMiB
              << " MiB at most while the worker was stopped\n";
#ifdef __SANITIZE_ADDRESS__  // it keeps what is freed
    static_cast<void>(state + parked);
#else
    EXPECT_LE(peak_ - before_, kBound);
    EXPECT_LE(peak_, state + parked + kBound);
#endif
  }

  // All go on and end well, with the parameters that all steps of both workers make.
  void ExpectRightEnd(float rate) {
    const std::string hash = job_->ExpectedHash(steps_, rate);
    for (int rank : {kFast, kStalled}) {
      const TestProcess::Ended ended = job_->worker(rank).Wait(kSoon);
      EXPECT_EQ(ended.status, 0) << job_->Outputs();
      EXPECT_THAT(ended.output, HasSubstr("parameters " + hash + "\n"));
    }
    EXPECT_EQ(job_->shard(0).Wait(kSoon).status, 0) << job_->Outputs();
  }

  void ExpectNamedWhenKilled() {
    job_->worker(kStalled).Signal(SIGKILL);
    for (TestProcess* other : {&job_->worker(kFast), &job_->shard(0)}) {
      const TestProcess::Ended ended = other->Wait(kSoon);
      EXPECT_EQ(ended.status, 1) << ended.output;
      EXPECT_THAT(ended.output,
                  ::testing::ContainsRegex("worker 1 was lost at step [1-9][0-9]*: "));
    }
  }

  int64_t steps_ = 0;
  std::unique_ptr<ScriptedJob> job_;
  int64_t before_ = 0;  // RssAnon of the shard
  int64_t peak_ = 0;
};

constexpr int64_t kSyncMiB = 72;  // more than the bound, so that one copy too many shows
// Of a synchronous shard: the results of two steps, and what one worker has pushed before the
// other.
constexpr int64_t kSyncState = 2 * kSyncMiB * kMiB;
constexpr int64_t kSyncParked = kSyncMiB * kMiB;

class SynchronousStallTest : public StalledWorkerTest {
 protected:
  void StallInMidPush() {
    Start(kSyncMiB, 3, {"2:0:hold,2:8:say", "2:0:hold,2:4:stop"});
    ASSERT_NO_FATAL_FAILURE(AwaitQuiet(2));
    const int64_t of_fast = job_->UnitsSubmitted(kFast);
    job_->Resume({kStalled});
    ASSERT_TRUE(job_->AwaitStopped(kStalled)) << job_->Outputs();
    // The shard has read what had left the worker.
    int64_t received = -1;
    ASSERT_TRUE(Watch([&] {
      const int64_t before = std::exchange(received, job_->FramesReceived());
      return received == before;
    }));
    job_->Resume({kFast});
    ASSERT_TRUE(AwaitAllOfFast(2, received - of_fast)) << job_->Outputs();
    EXPECT_EQ(job_->StepsFinished(kFast), 1);
    ExpectBoundedMemory(kSyncState, kSyncParked);
  }
};

TEST_F(SynchronousStallTest, InMidPushAndOn) {
  ASSERT_NO_FATAL_FAILURE(StallInMidPush());
  job_->worker(kStalled).Signal(SIGCONT);
  ExpectRightEnd(0.5);
}

TEST_F(SynchronousStallTest, InMidPushAndKilled) {
  ASSERT_NO_FATAL_FAILURE(StallInMidPush());
  ExpectNamedWhenKilled();
}

// All results of a step wait for the stopped worker while the other pushes the next one.
TEST_F(SynchronousStallTest, BeforeItReads) {
  Start(kSyncMiB, 4, {"2:0:hold,3:8:say", "2:0:hold,2:8:hold"});
  ASSERT_NO_FATAL_FAILURE(AwaitQuiet(2));
  job_->Resume({kStalled});
  ASSERT_TRUE(job_->AwaitHalt(kStalled, 2, kBuckets)) << job_->Outputs();
  const int64_t of_fast = job_->UnitsSubmitted(kFast);
  const int64_t of_stalled = job_->UnitsSubmitted(kStalled);
  ASSERT_TRUE(Watch([&] { return job_->FramesReceived() == of_fast + of_stalled; }));
  job_->worker(kStalled).Signal(SIGSTOP);
  ASSERT_TRUE(job_->AwaitStopped(kStalled));
  job_->Resume({kFast});
  ASSERT_TRUE(AwaitAllOfFast(3, of_stalled)) << job_->Outputs();
  EXPECT_EQ(job_->StepsFinished(kFast), 2);
  ExpectBoundedMemory(kSyncState, kSyncParked);
  job_->Resume({kStalled});
  job_->worker(kStalled).Signal(SIGCONT);
  ExpectRightEnd(0.5);
}

constexpr int64_t kAsyncMiB = 16;
// Of an asynchronous shard: the parameters, and a copy for each worker.
constexpr int64_t kAsyncState = 3 * kAsyncMiB * kMiB;
constexpr int64_t kAsyncSteps = 30;

class AsynchronousStallTest : public StalledWorkerTest {
 protected:
  // The fast worker takes all its steps meanwhile: ten times the bound goes through the shard.
  void StallInMidPush() {
    Start(kAsyncMiB, kAsyncSteps, {"3:0:hold", "3:0:hold,4:4:stop"}, {"--ps_mode=async"});
    ASSERT_NO_FATAL_FAILURE(AwaitQuiet(3));
    job_->Resume({kStalled});
    ASSERT_TRUE(job_->AwaitStopped(kStalled)) << job_->Outputs();
    job_->Resume({kFast});
    ASSERT_TRUE(Watch([&] { return job_->StepsFinished(kFast) == kAsyncSteps; }))
        << job_->Outputs();
    ExpectBoundedMemory(kAsyncState, 0);
  }
};

TEST_F(AsynchronousStallTest, InMidPushAndOn) {
  ASSERT_NO_FATAL_FAILURE(StallInMidPush());
  job_->worker(kStalled).Signal(SIGCONT);
  ExpectRightEnd(0.25);  // a worker's batch is half of the full one
}

TEST_F(AsynchronousStallTest, InMidPushAndKilled) {
  ASSERT_NO_FATAL_FAILURE(StallInMidPush());
  ExpectNamedWhenKilled();
}

}  // namespace
}  // namespace ringside
