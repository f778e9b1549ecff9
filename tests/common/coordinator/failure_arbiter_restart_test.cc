// The arbiter of a job that tolerates losses of shards.
#include <gtest/gtest.h>

#include "common/coordinator/failure_arbiter.h"
#include "common/suspects.h"

namespace ringside {
namespace {

const absl::Time kStart = absl::UnixEpoch();
const char kClosed[] = "its connection to the coordinator closed (the process ended or was killed)";

// Workers 0 and 1, shards 0 and 1; a lease of 10 s, two restarts within 30 s each.
class FailureArbiterRestartTest : public ::testing::Test {
 protected:
  static absl::Time At(double seconds) { return kStart + absl::Seconds(seconds); }
  static FailureReport Report(const std::string& message, const std::vector<MemberId>& suspects,
                              uint32_t recovery = 0) {
    FailureReport report;
    report.set_message(message);
    report.set_step(18);
    report.set_recovery(recovery);
    for (const MemberId& suspect : suspects) *report.add_suspects() = suspect;
    return report;
  }
  // Lets time pass up to `seconds`, with heartbeats at step 17 of all but `silent`.
  void PassTo(double seconds, const std::vector<MemberId>& silent = {}) {
    Progress progress;
    progress.set_step(17);
    for (; now_ < seconds; now_ += 0.5) {
      for (const MemberId& id : members_) {
        if (!Contains(silent, id)) arbiter_.Heartbeat(id, progress, At(now_));
      }
      arbiter_.Tick(At(now_));
    }
    arbiter_.Tick(At(seconds));
  }
  static void Report(FailureArbiter* arbiter, const MemberId& id, const char* phase) {
    Progress progress;
    progress.set_phase(phase);
    progress.set_step(arbiter->progress(id).step());
    arbiter->Heartbeat(id, progress, At(1));
  }
  void ExpectNoVerdict() {
    EXPECT_FALSE(arbiter_.verdict().has_value()) << arbiter_.verdict()->reason();
  }
  void ExpectVerdict(const MemberId& culprit, const std::string& reason) {
    ASSERT_TRUE(arbiter_.verdict().has_value());
    EXPECT_EQ(arbiter_.verdict()->reason(), reason);
    EXPECT_TRUE(SameMember(arbiter_.verdict()->culprit(), culprit));
  }

  const std::vector<MemberId> members_ = {WorkerId(0), WorkerId(1), ShardId(0), ShardId(1)};
  FailureArbiter arbiter_{absl::Seconds(10), members_, kStart, {2, absl::Seconds(30)}};
  double now_ = 0;
};

TEST_F(FailureArbiterRestartTest, ABrokenSessionOfAShardIsNoVerdict) {
  PassTo(1);
  arbiter_.SessionClosed(ShardId(1), At(1));
  ExpectNoVerdict();
  EXPECT_TRUE(arbiter_.Awaits(ShardId(1)));
  const auto losses = arbiter_.TakeLosses();
  ASSERT_EQ(losses.size(), 1u);
  EXPECT_EQ(losses[0].step, 17);
  EXPECT_EQ(losses[0].why, kClosed);
  // Seen twice, counted once.
  arbiter_.Restarted(ShardId(1), "killed by signal 9 (Killed)", At(1.1));
  EXPECT_TRUE(arbiter_.TakeLosses().empty());
  PassTo(30.5, {ShardId(1)});
  ExpectNoVerdict();
}

TEST_F(FailureArbiterRestartTest, SilenceOfAShardIsNoVerdict) {
  PassTo(1);
  PassTo(8, {ShardId(0)});
  ExpectNoVerdict();
  EXPECT_TRUE(arbiter_.Awaits(ShardId(0)));
}

TEST_F(FailureArbiterRestartTest, AWorkersLossIsAVerdictAsEver) {
  PassTo(1);
  arbiter_.SessionClosed(ShardId(1), At(1));
  arbiter_.SessionClosed(WorkerId(1), At(1));
  ExpectVerdict(WorkerId(1), std::string("worker 1 was lost at step 17: ") + kClosed);
}

TEST_F(FailureArbiterRestartTest, AShardsOwnFailureIsAVerdictAsEver) {
  arbiter_.Reported(ShardId(1), Report("the push overlaps", {}), At(1));
  ExpectVerdict(ShardId(1), "shard 1 failed at step 18: the push overlaps");
}

TEST_F(FailureArbiterRestartTest, WithoutAReplacementInTimeTheLossIsAVerdict) {
  PassTo(1);
  arbiter_.SessionClosed(ShardId(1), At(1));
  PassTo(30.9, {ShardId(1)});
  ExpectNoVerdict();
  PassTo(31, {ShardId(1)});
  ExpectVerdict(ShardId(1), std::string("shard 1 was lost at step 17: ") + kClosed +
                                "; no replacement joined within 30s");
}

TEST_F(FailureArbiterRestartTest, AReplacementHasTheUsualTimeToBeHeard) {
  PassTo(1);
  arbiter_.SessionClosed(ShardId(1), At(1));
  PassTo(20, {ShardId(1)});
  EXPECT_EQ(arbiter_.Replaced(ShardId(1), At(20)), 1u);
  EXPECT_FALSE(arbiter_.Awaits(ShardId(1)));
  PassTo(26.9, {ShardId(1)});
  EXPECT_FALSE(arbiter_.Awaits(ShardId(1)));
  PassTo(27, {ShardId(1)});
  EXPECT_TRUE(arbiter_.Awaits(ShardId(1)));  // the second loss
  ExpectNoVerdict();
}

TEST_F(FailureArbiterRestartTest, OneLossTooManyIsAVerdict) {
  PassTo(1);
  arbiter_.SessionClosed(ShardId(1), At(1));
  arbiter_.Replaced(ShardId(1), At(1));
  arbiter_.SessionClosed(ShardId(0), At(1));
  arbiter_.Replaced(ShardId(0), At(1));
  EXPECT_FALSE(arbiter_.Tolerates(ShardId(1)));
  arbiter_.SessionClosed(ShardId(1), At(1));
  ExpectVerdict(ShardId(1), std::string("shard 1 was lost at step 17: ") + kClosed +
                                "; --restart_shards=2 is used up");
}

TEST_F(FailureArbiterRestartTest, AnExitForGoodIsAVerdict) {
  PassTo(1);
  arbiter_.Exited(ShardId(1), "exit status 1");
  ExpectVerdict(ShardId(1), "shard 1 was lost at step 17: exit status 1");
}

TEST_F(FailureArbiterRestartTest, AnExitForGoodOfWhoWasToBeReplacedIsAVerdict) {
  PassTo(1);
  arbiter_.SessionClosed(ShardId(1), At(1));
  arbiter_.Exited(ShardId(1), "exit status 2");
  ExpectVerdict(ShardId(1), std::string("shard 1 was lost at step 17: ") + kClosed +
                                "; it is not started again (exit status 2)");
}

TEST_F(FailureArbiterRestartTest, ASuspicionThatComesBeforeTheLossFindsItsCauseInIt) {
  PassTo(1);
  arbiter_.Reported(WorkerId(0), Report("link broke", {ShardId(1)}), At(1));
  arbiter_.SessionClosed(ShardId(1), At(1.5));
  arbiter_.Replaced(ShardId(1), At(2));
  PassTo(60);
  ExpectNoVerdict();
  // Whoever suspected is as liable as before.
  arbiter_.SessionClosed(WorkerId(0), At(60));
  ExpectVerdict(WorkerId(0), std::string("worker 0 was lost at step 17: ") + kClosed);
}

TEST_F(FailureArbiterRestartTest, SuspicionsDuringTheWaitLeadToNothing) {
  PassTo(1);
  arbiter_.SessionClosed(ShardId(1), At(1));
  arbiter_.Reported(WorkerId(0), Report("link broke", {ShardId(1)}), At(1));
  // A victim's victim: the worker gave up its other links too.
  arbiter_.Reported(ShardId(0), Report("link broke", {WorkerId(0)}), At(1));
  PassTo(20, {ShardId(1)});
  arbiter_.Replaced(ShardId(1), At(20));
  PassTo(60);
  ExpectNoVerdict();
}

TEST_F(FailureArbiterRestartTest, SuspicionsFromBeforeTheReplacementLeadToNothing) {
  PassTo(1);
  arbiter_.SessionClosed(ShardId(1), At(1));
  arbiter_.Replaced(ShardId(1), At(1));
  arbiter_.Reported(WorkerId(0), Report("link broke", {ShardId(1)}, 0), At(1.5));
  PassTo(60);
  ExpectNoVerdict();
}

TEST_F(FailureArbiterRestartTest, ASuspicionOfTheReplacementCounts) {
  PassTo(1);
  arbiter_.SessionClosed(ShardId(1), At(1));
  arbiter_.Replaced(ShardId(1), At(1));
  arbiter_.TakeLosses();
  arbiter_.Reported(WorkerId(0), Report("link broke", {ShardId(1)}, 1), At(1));
  PassTo(8.9);
  EXPECT_FALSE(arbiter_.Awaits(ShardId(1)));
  PassTo(9);
  ExpectNoVerdict();
  const auto losses = arbiter_.TakeLosses();
  ASSERT_EQ(losses.size(), 1u);
  EXPECT_EQ(losses[0].why, "link broke (reported by worker 0)");
  EXPECT_EQ(losses[0].step, 18);
}

TEST_F(FailureArbiterRestartTest, ASuspicionOfAWorkerIsAVerdictAsEver) {
  PassTo(1);
  arbiter_.Reported(ShardId(0), Report("no push", {WorkerId(1)}), At(1));
  PassTo(9);
  ExpectVerdict(WorkerId(1), "worker 1 was lost at step 18: no push (reported by shard 0)");
}

TEST_F(FailureArbiterRestartTest, AVictimThatEndedIsNotForgottenWithTheSuspicions) {
  PassTo(1);
  arbiter_.Reported(WorkerId(0), Report("link broke", {ShardId(1)}), At(1));
  arbiter_.SessionClosed(WorkerId(0), At(1.1));
  ExpectNoVerdict();
  arbiter_.SessionClosed(ShardId(1), At(1.2));
  ExpectVerdict(WorkerId(0), std::string("worker 0 was lost at step 17: ") + kClosed);
}

TEST_F(FailureArbiterRestartTest, OnceAWorkerHasLeftNoReplacementIsOfUse) {
  PassTo(1);
  arbiter_.Left(WorkerId(0));
  EXPECT_FALSE(arbiter_.Tolerates(ShardId(1)));
  arbiter_.SessionClosed(ShardId(1), At(1));
  ExpectVerdict(ShardId(1), std::string("shard 1 was lost at step 17: ") + kClosed +
                                "; a replacement is of no use, worker 0 has left");
}

TEST_F(FailureArbiterRestartTest, OnceAWorkerHasEndedItsTrainingALossIsAVerdictAtOnce) {
  PassTo(1);
  for (const char* phase : {"evaluate", "finish"}) {
    FailureArbiter arbiter(absl::Seconds(10), members_, kStart, {2, absl::Seconds(30)});
    EXPECT_TRUE(arbiter.Tolerates(ShardId(1)));
    Report(&arbiter, WorkerId(1), phase);
    EXPECT_FALSE(arbiter.Tolerates(ShardId(1)));
    EXPECT_FALSE(arbiter.verdict().has_value());
    arbiter.SessionClosed(ShardId(1), At(1));
    ASSERT_TRUE(arbiter.verdict().has_value());
    EXPECT_EQ(arbiter.verdict()->reason(),
              std::string("shard 1 was lost at step 0: ") + kClosed +
                  "; a replacement is of no use, worker 1 has ended its training");
  }
}

TEST_F(FailureArbiterRestartTest, WhatAShardSaysOfItsPhaseIsNoEndOfTheTraining) {
  Report(&arbiter_, ShardId(0), "finish");
  Report(&arbiter_, WorkerId(0), "start");
  Report(&arbiter_, WorkerId(1), "train");
  EXPECT_TRUE(arbiter_.Tolerates(ShardId(1)));
}

TEST_F(FailureArbiterRestartTest, AWorkerThatEndsItsTrainingEndsTheWaitForAReplacement) {
  PassTo(1);
  arbiter_.SessionClosed(ShardId(1), At(1));
  ExpectNoVerdict();
  Report(&arbiter_, WorkerId(0), "evaluate");
  ExpectVerdict(ShardId(1), std::string("shard 1 was lost at step 17: ") + kClosed +
                                "; a replacement is of no use, worker 0 has ended its training");
}

// The replacement and the others would wait for a worker that never comes.
TEST_F(FailureArbiterRestartTest, AReplacementThatNobodyHasMetIsOfNoUseAfterTheTraining) {
  PassTo(1);
  arbiter_.SessionClosed(ShardId(1), At(1));
  arbiter_.Replaced(ShardId(1), At(2));
  ExpectNoVerdict();
  Report(&arbiter_, WorkerId(0), "evaluate");
  ExpectVerdict(ShardId(1), std::string("shard 1 was lost at step 17: ") + kClosed +
                                "; a replacement is of no use, worker 0 has ended its training");
}

TEST_F(FailureArbiterRestartTest, ALossThatWasMadeGoodIsNotHeldAgainstTheShard) {
  PassTo(1);
  arbiter_.SessionClosed(ShardId(1), At(1));
  arbiter_.Replaced(ShardId(1), At(2));
  arbiter_.MadeGood();
  Report(&arbiter_, WorkerId(0), "evaluate");
  arbiter_.Left(WorkerId(0));
  ExpectNoVerdict();
}

TEST_F(FailureArbiterRestartTest, AWorkerThatLeavesEndsTheWait) {
  PassTo(1);
  arbiter_.SessionClosed(ShardId(1), At(1));
  arbiter_.Left(WorkerId(0));
  ExpectVerdict(ShardId(1), std::string("shard 1 was lost at step 17: ") + kClosed +
                                "; a replacement is of no use, worker 0 has left");
}

TEST_F(FailureArbiterRestartTest, AStandstillOfTheCoordinatorIsNotTheReplacements) {
  PassTo(1);
  arbiter_.SessionClosed(ShardId(1), At(1));
  PassTo(20, {ShardId(1)});
  now_ = 50;
  arbiter_.Tick(At(50));
  ExpectNoVerdict();
  PassTo(60.5, {ShardId(1)});
  ExpectNoVerdict();
  PassTo(61, {ShardId(1)});
  EXPECT_TRUE(arbiter_.verdict().has_value());
}

}  // namespace
}  // namespace ringside
