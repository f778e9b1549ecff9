#include "common/coordinator/failure_arbiter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/suspects.h"

namespace ringside {
namespace {

const absl::Time kStart = absl::UnixEpoch();

class FailureArbiterTest : public ::testing::Test {
 protected:
  FailureArbiterTest() {
    for (int rank = 0; rank < 4; ++rank) members_.push_back(WorkerId(rank));
    members_.push_back(ShardId(0));
    arbiter_ = std::make_unique<FailureArbiter>(absl::Seconds(10), members_, kStart);
  }

  static absl::Time At(double seconds) { return kStart + absl::Seconds(seconds); }
  static Progress Step(int64_t step) {
    Progress progress;
    progress.set_step(step);
    return progress;
  }
  static FailureReport Report(const std::string& message, int64_t step,
                              const std::vector<MemberId>& suspects = {}) {
    FailureReport report;
    report.set_message(message);
    report.set_step(step);
    for (const MemberId& suspect : suspects) *report.add_suspects() = suspect;
    return report;
  }
  // Lets time pass up to `seconds`, with heartbeats of all but `silent`.
  void PassTo(double seconds, const std::vector<MemberId>& silent = {}) {
    for (; now_ < seconds; now_ += 0.5) {
      for (const MemberId& id : members_) {
        if (!Contains(silent, id)) arbiter_->Heartbeat(id, Step(17), At(now_));
      }
      arbiter_->Tick(At(now_));
    }
    arbiter_->Tick(At(seconds));
  }
  void ExpectVerdict(const MemberId& culprit, const std::string& reason, int64_t step = 17) {
    ASSERT_TRUE(arbiter_->verdict().has_value());
    EXPECT_EQ(arbiter_->verdict()->reason(), reason);
    EXPECT_TRUE(SameMember(arbiter_->verdict()->culprit(), culprit));
    EXPECT_EQ(arbiter_->verdict()->step(), step);
  }
  void ExpectNoVerdict() { EXPECT_FALSE(arbiter_->verdict().has_value()); }

  std::vector<MemberId> members_;
  std::unique_ptr<FailureArbiter> arbiter_;
  double now_ = 0;
};

TEST_F(FailureArbiterTest, NothingHappensWhileAllAreHeard) {
  PassTo(60);
  ExpectNoVerdict();
  EXPECT_FALSE(arbiter_->AllEnded());
}

TEST_F(FailureArbiterTest, SilenceIsLossAtSevenTenthsOfTheLease) {
  PassTo(2);
  PassTo(8.4, {WorkerId(2)});  // last heard at 1.5
  ExpectNoVerdict();
  PassTo(8.5, {WorkerId(2)});
  ExpectVerdict(WorkerId(2), "worker 2 was lost at step 17: no heartbeat for 7.0 s");
}

TEST_F(FailureArbiterTest, AMemberThatNeverOpensItsSessionIsLostLikewise) {
  PassTo(6.9, {ShardId(0)});
  ExpectNoVerdict();
  PassTo(7, {ShardId(0)});
  ExpectVerdict(ShardId(0), "shard 0 was lost at step 0: no heartbeat for 7.0 s", 0);
}

TEST_F(FailureArbiterTest, OfSeveralSilentMembersTheFirstToFallSilentIsTheCause) {
  PassTo(1);
  arbiter_->Heartbeat(WorkerId(1), Step(18), At(1.4));
  PassTo(8, {WorkerId(1), WorkerId(3)});
  ExpectVerdict(WorkerId(3), "worker 3 was lost at step 17: no heartbeat for 7.0 s");
}

TEST_F(FailureArbiterTest, ABrokenSessionIsAVerdictAtOnce) {
  PassTo(1);
  arbiter_->SessionClosed(WorkerId(2), At(now_));
  ExpectVerdict(WorkerId(2),
                "worker 2 was lost at step 17: its connection to the coordinator closed (the "
                "process ended or was killed)");
}

TEST_F(FailureArbiterTest, AnExitIsAVerdictAtOnce) {
  PassTo(1);
  arbiter_->Exited(ShardId(0), "killed by signal 9 (Killed)");
  ExpectVerdict(ShardId(0), "shard 0 was lost at step 17: killed by signal 9 (Killed)");
}

TEST_F(FailureArbiterTest, AnOwnFailureIsAVerdictAtOnce) {
  PassTo(1);
  arbiter_->Reported(WorkerId(2), Report("loss is not finite", 18), At(1));
  ExpectVerdict(WorkerId(2), "worker 2 failed at step 18: loss is not finite", 18);
}

TEST_F(FailureArbiterTest, TheFirstVerdictStays) {
  arbiter_->Reported(WorkerId(2), Report("bad data", 0), At(0));
  arbiter_->SessionClosed(WorkerId(2), At(now_));
  arbiter_->SessionClosed(WorkerId(1), At(now_));
  arbiter_->Exited(WorkerId(0), "exited with status 1");
  arbiter_->Reported(WorkerId(3), Report("other", 4), At(1));
  PassTo(60, members_);
  ExpectVerdict(WorkerId(2), "worker 2 failed at step 0: bad data", 0);
}

TEST_F(FailureArbiterTest, LeavingIsNoLoss) {
  arbiter_->Left(WorkerId(2));
  EXPECT_TRUE(arbiter_->has_left(WorkerId(2)));
  arbiter_->SessionClosed(WorkerId(2), At(now_));
  arbiter_->Exited(WorkerId(2), "exited with status 0");
  arbiter_->Reported(WorkerId(2), Report("late", 1), At(1));
  PassTo(20, {WorkerId(2)});
  ExpectNoVerdict();
}

TEST_F(FailureArbiterTest, ASuspicionWaitsForThePrimaryCause) {
  PassTo(1);
  arbiter_->Reported(WorkerId(3), Report("link to worker 2 broke", 18, {WorkerId(2)}), At(1));
  PassTo(1.5);
  ExpectNoVerdict();
  arbiter_->SessionClosed(WorkerId(2), At(now_));
  ExpectVerdict(WorkerId(2),
                "worker 2 was lost at step 18: its connection to the coordinator closed (the "
                "process ended or was killed)",
                18);
}

TEST_F(FailureArbiterTest, ThePrimaryCauseMayBeAboutSomebodyElse) {
  arbiter_->Reported(WorkerId(0), Report("link to worker 3 broke", 18, {WorkerId(3)}), At(1));
  arbiter_->Reported(WorkerId(2), Report("out of memory", 18), At(1.1));
  ExpectVerdict(WorkerId(2), "worker 2 failed at step 18: out of memory", 18);
}

TEST_F(FailureArbiterTest, AStoppedSuspectIsFoundByItsSilence) {
  PassTo(2);
  // Stopped right after its heartbeat of 1.5; seen by its neighbour at once.
  arbiter_->Reported(WorkerId(3), Report("no data", 17, {WorkerId(2)}), At(1.6));
  PassTo(8.5, {WorkerId(2)});
  ExpectVerdict(WorkerId(2), "worker 2 was lost at step 17: no heartbeat for 7.0 s");
}

TEST_F(FailureArbiterTest, AfterTheGraceTheSuspectIsNamed) {
  PassTo(1);
  arbiter_->Reported(WorkerId(3), Report("link broke", 18, {WorkerId(2)}), At(1));
  PassTo(8.9);
  ExpectNoVerdict();
  PassTo(9);
  ExpectVerdict(WorkerId(2), "worker 2 was lost at step 18: link broke (reported by worker 3)", 18);
}

TEST_F(FailureArbiterTest, AChainOfSuspicionsLeadsToItsStart) {
  // Worker 0 waits for 3, 3 for 2, 2 for 1; the reports arrive in this order.
  arbiter_->Reported(WorkerId(0), Report("link to worker 3 broke", 18, {WorkerId(3)}), At(0));
  arbiter_->Reported(WorkerId(3), Report("link to worker 2 broke", 18, {WorkerId(2)}), At(0.1));
  arbiter_->Reported(WorkerId(2), Report("link to worker 1 broke", 18, {WorkerId(1)}), At(0.2));
  PassTo(8);
  ExpectVerdict(WorkerId(1),
                "worker 1 was lost at step 18: link to worker 1 broke (reported by worker 2)", 18);
}

TEST_F(FailureArbiterTest, OfMutualSuspicionsTheEarliestCounts) {
  arbiter_->Reported(WorkerId(1), Report("a", 18, {WorkerId(2)}), At(0));
  arbiter_->Reported(WorkerId(2), Report("b", 18, {WorkerId(1)}), At(0.1));
  PassTo(8);
  ExpectVerdict(WorkerId(2), "worker 2 was lost at step 18: a (reported by worker 1)", 18);
}

TEST_F(FailureArbiterTest, AVictimThatEndsIsNotTheCause) {
  PassTo(1);
  arbiter_->Reported(WorkerId(3), Report("link broke", 18, {WorkerId(2)}), At(1));
  arbiter_->SessionClosed(WorkerId(3), At(now_));
  arbiter_->Exited(WorkerId(3), "exited with status 1");
  PassTo(8.5, {WorkerId(3)});
  ExpectNoVerdict();
  PassTo(9, {WorkerId(3)});
  ExpectVerdict(WorkerId(2), "worker 2 was lost at step 18: link broke (reported by worker 3)", 18);
}

TEST_F(FailureArbiterTest, AVictimMayStillFailByItself) {
  arbiter_->Reported(WorkerId(3), Report("link broke", 18, {WorkerId(2)}), At(1));
  arbiter_->Reported(WorkerId(3), Report("bad data", 18), At(1));
  ExpectVerdict(WorkerId(3), "worker 3 failed at step 18: bad data", 18);
}

TEST_F(FailureArbiterTest, SuspectsThatCannotBeMeantDoNotCount) {
  arbiter_->Left(WorkerId(1));
  arbiter_->Reported(WorkerId(3),
                     Report("odd", 18, {WorkerId(9), WorkerId(1), WorkerId(3), MemberId()}), At(1));
  ExpectVerdict(WorkerId(3), "worker 3 failed at step 18: odd", 18);
}

TEST_F(FailureArbiterTest, AStandstillOfTheCoordinatorIsNotHeldAgainstMembers) {
  PassTo(2);
  arbiter_->Tick(At(60));
  ExpectNoVerdict();
  now_ = 60.5;
  PassTo(66, {WorkerId(1)});
  ExpectNoVerdict();
  PassTo(68, {WorkerId(1)});
  ASSERT_TRUE(arbiter_->verdict().has_value());
  EXPECT_TRUE(SameMember(arbiter_->verdict()->culprit(), WorkerId(1)));
}

TEST_F(FailureArbiterTest, AllEndedWithoutAVerdictMeansThatAllLeft) {
  for (const MemberId& id : members_) {
    EXPECT_FALSE(arbiter_->AllEnded());
    arbiter_->Left(id);
  }
  EXPECT_TRUE(arbiter_->AllEnded());
}

TEST_F(FailureArbiterTest, AfterAVerdictTheSilentCountAsGone) {
  arbiter_->Left(WorkerId(0));
  arbiter_->Exited(WorkerId(1), "killed");
  arbiter_->SessionClosed(WorkerId(2), At(now_));
  EXPECT_FALSE(arbiter_->AllEnded());
  PassTo(6.5, {WorkerId(3), ShardId(0)});
  EXPECT_FALSE(arbiter_->AllEnded());
  PassTo(7, {WorkerId(3), ShardId(0)});
  EXPECT_TRUE(arbiter_->AllEnded());
}

}  // namespace
}  // namespace ringside
