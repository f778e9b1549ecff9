#include "experiments/job_supervisor.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "common/suspects.h"

namespace ringside {
namespace {

constexpr ChildExit kGood = {0, 0};
constexpr ChildExit kFailed = {1, 0};
constexpr ChildExit kBadInput = {2, 0};
constexpr ChildExit kKilled = {0, SIGKILL};

// Shard 0 and workers 0 and 1, indices 0 to 2; a lease of 10 s.
class JobSupervisorTest : public ::testing::Test {
 protected:
  absl::Time At(double seconds) const { return absl::UnixEpoch() + absl::Seconds(seconds); }

  void Join() { job_.OnJoined(At(1)); }

  static Verdict Lost(const MemberId& culprit, const std::string& reason) {
    Verdict verdict;
    *verdict.mutable_culprit() = culprit;
    verdict.set_reason(reason);
    return verdict;
  }

  JobSupervisor job_{{{ShardId(0), WorkerId(0), WorkerId(1)},
                      absl::Seconds(10),
                      absl::Seconds(120),
                      absl::Seconds(60)},
                     absl::UnixEpoch()};
};

TEST_F(JobSupervisorTest, AGoodJobNeedsNoSignal) {
  Join();
  job_.OnExit(2, kGood, At(20));
  job_.OnExit(1, kGood, At(20));
  EXPECT_EQ(job_.NextSignal(At(21)), 0);
  EXPECT_FALSE(job_.AllEnded());
  job_.OnExit(0, kGood, At(21));
  EXPECT_TRUE(job_.AllEnded());
  EXPECT_EQ(job_.NextSignal(At(1000)), 0);
  EXPECT_EQ(job_.Error(), "");
  EXPECT_EQ(job_.LauncherStatus(), 0);
}

TEST_F(JobSupervisorTest, WorkerZeroSavesBeforeTheOthersAreToldToEnd) {
  JobSupervisor job{{{ShardId(0), WorkerId(0), WorkerId(1)},
                     absl::Seconds(10),
                     absl::Seconds(120),
                     absl::Seconds(60),
                     /*restart_shards=*/0,
                     /*saves_first=*/true},
                    absl::UnixEpoch()};
  job.OnJoined(At(1));
  EXPECT_EQ(job.NextSignalForWorker0(), 0);
  job.OnInterrupt(SIGTERM, At(5));
  EXPECT_EQ(job.NextSignal(At(5)), 0);
  EXPECT_EQ(job.NextSignalForWorker0(), SIGTERM);
  EXPECT_EQ(job.NextSignalForWorker0(), 0);
  EXPECT_EQ(job.NextSignal(At(30)), 0);  // a long write
  job.OnExit(1, {128 + SIGTERM, 0}, At(31));
  EXPECT_EQ(job.NextSignal(At(40)), 0);
  EXPECT_EQ(job.NextSignal(At(42)), SIGTERM);
  EXPECT_EQ(job.NextSignal(At(44)), SIGKILL);
  job.OnExit(0, kKilled, At(44));
  job.OnExit(2, kKilled, At(44));
  EXPECT_EQ(job.LauncherStatus(), 128 + SIGTERM);
}

TEST_F(JobSupervisorTest, WhatCannotSaveIsInterruptedAsAWhole) {
  const auto make = [](bool saves_first) {
    return JobSupervisor{{{WorkerId(0), WorkerId(1)},
                          absl::Seconds(10),
                          absl::Seconds(120),
                          absl::Seconds(60),
                          0,
                          saves_first},
                         absl::UnixEpoch()};
  };
  JobSupervisor not_joined = make(true), interrupted = make(true), without = make(false);
  not_joined.OnInterrupt(SIGTERM, At(1));
  interrupted.OnJoined(At(1));
  interrupted.OnInterrupt(SIGINT, At(1));
  without.OnJoined(At(1));
  without.OnInterrupt(SIGTERM, At(1));
  for (JobSupervisor* job : {&not_joined, &interrupted, &without}) {
    EXPECT_EQ(job->NextSignalForWorker0(), 0);
    EXPECT_NE(job->NextSignal(At(1)), 0);
    EXPECT_EQ(job->NextSignal(At(3.1)), SIGKILL);
  }
  // The second interrupt kills, saved or not.
  JobSupervisor impatient = make(true);
  impatient.OnJoined(At(1));
  impatient.OnInterrupt(SIGTERM, At(2));
  EXPECT_EQ(impatient.NextSignalForWorker0(), SIGTERM);
  impatient.OnInterrupt(SIGTERM, At(3));
  EXPECT_EQ(impatient.NextSignal(At(3)), SIGKILL);
}

TEST_F(JobSupervisorTest, AnEndBeforeJoiningEndsTheJobAtOnce) {
  job_.OnExit(1, kBadInput, At(0.5));
  EXPECT_EQ(job_.NextSignal(At(0.5)), SIGTERM);
  EXPECT_EQ(job_.NextSignal(At(1)), 0);
  EXPECT_EQ(job_.NextSignal(At(2.6)), SIGKILL);
  EXPECT_EQ(job_.NextSignal(At(2.7)), 0);
  EXPECT_EQ(job_.Error(), "worker 0 (exit status 2) ended before all processes had joined");
  EXPECT_EQ(job_.Culprit(), 1);
  EXPECT_EQ(job_.LauncherStatus(), 2);
}

TEST_F(JobSupervisorTest, EvenAGoodEndBeforeJoiningIsAFailure) {
  job_.OnExit(0, kGood, At(0.5));
  EXPECT_EQ(job_.Error(), "shard 0 (exit status 0) ended before all processes had joined");
  EXPECT_EQ(job_.LauncherStatus(), 1);
}

TEST_F(JobSupervisorTest, AfterALossTheOthersGetOneLease) {
  Join();
  job_.OnExit(2, kKilled, At(5));
  job_.OnVerdict(Lost(WorkerId(1), "worker 1 was lost at step 7: killed"), At(5.1));
  EXPECT_EQ(job_.Error(), "worker 1 was lost at step 7: killed");
  EXPECT_EQ(job_.NextSignal(At(14.9)), 0);
  EXPECT_EQ(job_.NextSignal(At(15)), SIGTERM);
  EXPECT_EQ(job_.NextSignal(At(17)), SIGKILL);
  EXPECT_EQ(job_.LauncherStatus(), 1);
}

TEST_F(JobSupervisorTest, WithoutAVerdictTheLossItselfIsTheError) {
  Join();
  job_.OnExit(2, kKilled, At(5));
  job_.OnExit(1, kFailed, At(6));
  job_.OnExit(0, kFailed, At(6));
  EXPECT_EQ(job_.Error(), "lost worker 1 (killed by signal 9 (Killed))");
  EXPECT_TRUE(job_.AllEnded());
  EXPECT_EQ(job_.LauncherStatus(), 1);
}

TEST_F(JobSupervisorTest, AVerdictThatComesAfterAllHaveEndedStillNamesTheCause) {
  Join();
  for (int index : {0, 1, 2}) job_.OnExit(index, kFailed, At(6));
  job_.OnVerdict(Lost(WorkerId(1), "worker 1: cannot read"), At(6.1));
  EXPECT_EQ(job_.Error(), "worker 1: cannot read");
  EXPECT_EQ(job_.Culprit(), 2);
}

TEST_F(JobSupervisorTest, AStoppedCulpritIsNotWaitedForOnceItIsAlone) {
  Join();
  job_.OnVerdict(Lost(WorkerId(0), "worker 0 was lost at step 3: no heartbeat"), At(10));
  job_.OnExit(0, kFailed, At(10.2));
  EXPECT_EQ(job_.NextSignal(At(10.9)), 0);
  job_.OnExit(2, kFailed, At(10.3));
  EXPECT_EQ(job_.NextSignal(At(10.7)), 0);
  EXPECT_EQ(job_.NextSignal(At(10.8)), SIGTERM);
  EXPECT_EQ(job_.NextSignal(At(11.3)), SIGKILL);
  job_.OnExit(1, kKilled, At(11.3));
  EXPECT_TRUE(job_.AllEnded());
  EXPECT_EQ(job_.LauncherStatus(), 1);
}

TEST_F(JobSupervisorTest, BadInputOfTheCulpritIsBadInputOfTheJob) {
  Join();
  job_.OnVerdict(Lost(WorkerId(1), "worker 1: data file truncated"), At(10));
  job_.OnExit(1, kFailed, At(10));
  job_.OnExit(2, kBadInput, At(10));
  EXPECT_EQ(job_.LauncherStatus(), 2);
}

TEST_F(JobSupervisorTest, AnExitAfterOurSignalSaysNothing) {
  Join();
  job_.OnVerdict(Lost(WorkerId(1), "worker 1 was lost"), At(10));
  EXPECT_EQ(job_.NextSignal(At(20)), SIGTERM);
  job_.OnExit(2, kBadInput, At(20));
  EXPECT_TRUE(job_.processes()[2].signaled);
  EXPECT_EQ(job_.LauncherStatus(), 1);
}

TEST_F(JobSupervisorTest, AnInterruptIsPassedOnAndThenInsistedOn) {
  Join();
  job_.OnInterrupt(SIGINT, At(5));
  EXPECT_EQ(job_.NextSignal(At(5)), SIGINT);
  EXPECT_EQ(job_.NextSignal(At(5)), 0);
  EXPECT_EQ(job_.NextSignal(At(6.9)), 0);
  EXPECT_EQ(job_.NextSignal(At(7)), SIGKILL);
  EXPECT_EQ(job_.LauncherStatus(), 130);
}

TEST_F(JobSupervisorTest, ASecondInterruptKillsAtOnce) {
  Join();
  job_.OnInterrupt(SIGTERM, At(5));
  EXPECT_EQ(job_.NextSignal(At(5)), SIGTERM);
  job_.OnInterrupt(SIGINT, At(5.5));
  EXPECT_EQ(job_.NextSignal(At(5.5)), SIGKILL);
  EXPECT_EQ(job_.LauncherStatus(), 143);
}

TEST_F(JobSupervisorTest, WhatAnInterruptBringsAboutDoesNotReplaceIt) {
  Join();
  job_.OnInterrupt(SIGINT, At(5));
  job_.OnExit(1, {0, SIGINT}, At(5.1));
  job_.OnVerdict(Lost(WorkerId(0), "worker 0 was lost"), At(5.1));
  EXPECT_EQ(job_.Error(), "interrupted by signal 2");
  EXPECT_EQ(job_.LauncherStatus(), 130);
}

TEST_F(JobSupervisorTest, AServerThatStaysIsNamedAndEnded) {
  Join();
  job_.OnExit(1, kGood, At(20));
  job_.OnExit(2, kGood, At(21));
  EXPECT_EQ(job_.NextSignal(At(30.9)), 0);
  EXPECT_EQ(job_.NextSignal(At(31)), SIGTERM);
  EXPECT_EQ(job_.NextSignal(At(33)), SIGKILL);
  EXPECT_EQ(job_.Error(), "all workers have ended, but these run on: shard 0");
  EXPECT_EQ(job_.LauncherStatus(), 1);
}

TEST_F(JobSupervisorTest, AWorkerThatStaysIsNamedAndEnded) {
  Join();
  job_.OnExit(1, kGood, At(20));
  EXPECT_EQ(job_.NextSignal(At(89.9)), 0);
  EXPECT_EQ(job_.NextSignal(At(90)), SIGTERM);
  EXPECT_EQ(job_.Error(), "a worker has finished, but these run on: shard 0, worker 1");
}

TEST_F(JobSupervisorTest, AWorkerThatSavesMayWriteForLong) {
  JobSupervisor::Config config{{ShardId(0), WorkerId(0), WorkerId(1)},
                               absl::Seconds(10),
                               absl::Seconds(120),
                               absl::Seconds(60),
                               /*restart_shards=*/0,
                               /*saves_first=*/true};
  JobSupervisor writes(config, absl::UnixEpoch());
  writes.OnJoined(At(1));
  writes.OnExit(2, kGood, At(20));
  writes.OnExit(0, kGood, At(20));
  EXPECT_EQ(writes.NextSignal(At(3000)), 0);
  writes.OnExit(1, kGood, At(3000));
  EXPECT_EQ(writes.LauncherStatus(), 0);
  // Not so where somebody else stays too, and not forever.
  JobSupervisor stays(config, absl::UnixEpoch());
  stays.OnJoined(At(1));
  stays.OnExit(2, kGood, At(20));
  EXPECT_EQ(stays.NextSignal(At(90)), SIGTERM);
  JobSupervisor hangs(config, absl::UnixEpoch());
  hangs.OnJoined(At(1));
  hangs.OnExit(2, kGood, At(20));
  hangs.OnExit(0, kGood, At(20));
  EXPECT_EQ(hangs.NextSignal(At(3631)), SIGTERM);
  EXPECT_EQ(hangs.Error(), "a worker has finished, but these run on: worker 0");
}

TEST_F(JobSupervisorTest, NobodyJoiningIsNotWaitedForForever) {
  EXPECT_EQ(job_.NextSignal(At(129.9)), 0);
  EXPECT_EQ(job_.NextSignal(At(130)), SIGTERM);
  EXPECT_EQ(job_.Error(),
            "not all processes joined within 2m10s; running: shard 0, worker 0, worker 1");
}

// The same with two restarts of shards.
class JobSupervisorRestartTest : public JobSupervisorTest {
 protected:
  JobSupervisor tolerant_{{{ShardId(0), WorkerId(0), WorkerId(1)},
                           absl::Seconds(10),
                           absl::Seconds(120),
                           absl::Seconds(60),
                           2},
                          absl::UnixEpoch()};
};

TEST_F(JobSupervisorRestartTest, AShardIsStartedAgainAsOftenAsAllowed) {
  tolerant_.OnJoined(At(1));
  EXPECT_TRUE(tolerant_.OnExit(0, kKilled, At(5)));
  EXPECT_EQ(tolerant_.NextSignal(At(100)), 0);
  EXPECT_TRUE(tolerant_.OnExit(0, kFailed, At(101)));
  EXPECT_EQ(tolerant_.restarts(), 2);
  EXPECT_EQ(tolerant_.processes()[0].restarts, 2);
  EXPECT_EQ(tolerant_.Error(), "");
  EXPECT_FALSE(tolerant_.OnExit(0, kKilled, At(102)));
  EXPECT_EQ(tolerant_.restarts(), 2);
  EXPECT_EQ(tolerant_.Error(), "lost shard 0 (killed by signal 9 (Killed))");
  EXPECT_EQ(tolerant_.NextSignal(At(112)), SIGTERM);
}

TEST_F(JobSupervisorRestartTest, AJobThatGoesWellAfterARestartWentWell) {
  tolerant_.OnJoined(At(1));
  EXPECT_TRUE(tolerant_.OnExit(0, kKilled, At(5)));
  for (int index : {1, 2, 0}) EXPECT_FALSE(tolerant_.OnExit(index, kGood, At(20)));
  EXPECT_TRUE(tolerant_.AllEnded());
  EXPECT_EQ(tolerant_.LauncherStatus(), 0);
}

TEST_F(JobSupervisorRestartTest, NothingElseIsStartedAgain) {
  EXPECT_FALSE(tolerant_.OnExit(0, kKilled, At(0.5)));  // before all had joined
  JobSupervisor joined(
      {{ShardId(0), WorkerId(0)}, absl::Seconds(10), absl::Seconds(120), absl::Seconds(60), 2},
      At(0));
  joined.OnJoined(At(1));
  EXPECT_FALSE(joined.OnExit(1, kGood, At(2)));    // a worker; with it the training is over
  EXPECT_FALSE(joined.OnExit(0, kKilled, At(3)));  // too late to be of use
  EXPECT_EQ(joined.Error(), "lost shard 0 (killed by signal 9 (Killed))");
}

TEST_F(JobSupervisorRestartTest, AfterAVerdictNothingIsStartedAgain) {
  tolerant_.OnJoined(At(1));
  tolerant_.OnVerdict(Lost(ShardId(0), "shard 0 failed at step 3: odd frame"), At(5));
  EXPECT_FALSE(tolerant_.OnExit(0, kFailed, At(5)));
  EXPECT_EQ(tolerant_.Error(), "shard 0 failed at step 3: odd frame");
}

TEST_F(JobSupervisorRestartTest, AWorkerIsNeverStartedAgain) {
  tolerant_.OnJoined(At(1));
  EXPECT_FALSE(tolerant_.OnExit(1, kKilled, At(5)));
  EXPECT_EQ(tolerant_.Error(), "lost worker 0 (killed by signal 9 (Killed))");
}

TEST_F(JobSupervisorRestartTest, AProcessThatCannotBeStartedAgainIsTheError) {
  tolerant_.OnJoined(At(1));
  EXPECT_TRUE(tolerant_.OnExit(0, kKilled, At(5)));
  tolerant_.OnRestartFailed(0, kKilled, "no memory", At(5));
  EXPECT_EQ(tolerant_.Error(),
            "lost shard 0 (killed by signal 9 (Killed)) and cannot start it again: no memory");
  EXPECT_EQ(tolerant_.Culprit(), 0);
  EXPECT_EQ(tolerant_.NextSignal(At(15)), SIGTERM);
}

}  // namespace
}  // namespace ringside
