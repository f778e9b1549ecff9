// Replacements of lost shards, by the coordinator's rules as a whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/coordinator/job.h"
#include "common/suspects.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const absl::Time kStart = absl::UnixEpoch();

Rendezvous::Config RendezvousConfig() {
  Rendezvous::Config config;
  config.token = "secret";
  return config;
}

// One worker and two shards (sessions 100, 200, 201), a lease of 10 s, two restarts within 60 s.
class JobRestartTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Join(Request(WorkerId(0), 1), 100);
    Join(Request(ShardId(0), 2), 200);
    Join(Request(ShardId(1), 3), 201);
    ASSERT_TRUE(job_.complete());
  }

  static absl::Time At(double seconds) { return kStart + absl::Seconds(seconds); }
  static JoinRequest Request(const MemberId& id, uint64_t incarnation) {
    JoinRequest request;
    *request.mutable_member()->mutable_id() = id;
    request.mutable_member()->set_pid(static_cast<int64_t>(incarnation));
    request.set_token("secret");
    request.set_world_size(1);
    request.set_num_shards(2);
    request.set_timeout_ms(30000);
    request.set_incarnation(incarnation);
    (*request.mutable_settings())["frame_bytes"] = "1024";
    return request;
  }
  Job::Effects Join(const JoinRequest& request, uint64_t session, double now = 0) {
    Job::Effects effects;
    const auto joined = job_.Join(request, session, At(now), &effects);
    EXPECT_TRUE(joined.ok()) << joined.status();
    return effects;
  }
  absl::Status Refusal(const JoinRequest& request, double now = 0) {
    Job::Effects effects;
    return job_.Join(request, 999, At(now), &effects).status();
  }
  Job::Effects Close(const MemberId& id, double now = 0) {
    Job::Effects effects;
    job_.SessionClosed(id, At(now), &effects);
    return effects;
  }
  // With heartbeats of all but `silent`.
  Job::Effects Tick(double seconds, const std::vector<MemberId>& silent = {}) {
    for (const MemberId& id : {WorkerId(0), ShardId(0), ShardId(1)}) {
      if (!Contains(silent, id)) job_.Heartbeat(id, Progress(), At(seconds));
    }
    Job::Effects effects;
    job_.Tick(At(seconds), &effects);
    return effects;
  }
  Job::Effects Arrive(uint64_t call, const MemberId& who, const std::string& name) {
    Contribution contribution;
    contribution.kind = MeetingKind::kGatherForAll;
    contribution.name = name;
    contribution.members = {WorkerId(0), ShardId(0), ShardId(1)};
    Job::Effects effects;
    job_.Arrive(call, who, contribution, kStart, absl::Hours(1), &effects);
    return effects;
  }
  bool Knows(uint64_t session) { return job_.IdentifySession(session).ok(); }

  Job job_{RendezvousConfig(), {2, absl::Seconds(60)}};
};

TEST_F(JobRestartTest, AReplacementTakesTheLostShardsPlace) {
  const Job::Effects lost = Close(ShardId(1));
  EXPECT_FALSE(lost.verdict_is_new);
  ASSERT_EQ(lost.remarks.size(), 1u);
  EXPECT_THAT(lost.remarks[0], HasSubstr("shard 1 was lost at step 0: "));
  EXPECT_THAT(lost.remarks[0],
              HasSubstr("a replacement may join within 1m (loss 1 of 2 that are tolerated)"));
  EXPECT_FALSE(Knows(201));
  EXPECT_TRUE(job_.Members()[2].awaits_replacement);
  EXPECT_EQ(job_.Members()[2].member.pid(), 3);

  const Job::Effects effects = Join(Request(ShardId(1), 4), 202);
  ASSERT_EQ(effects.joins.size(), 1u);
  EXPECT_EQ(effects.joins[0].session, 202u);
  const Membership& membership = *effects.joins[0].membership;
  EXPECT_EQ(membership.generation(), 1u);
  EXPECT_EQ(membership.recovery(), 1u);
  EXPECT_EQ(membership.restart_timeout_ms(), 60000);
  EXPECT_EQ(membership.shards(1).pid(), 4);
  ASSERT_EQ(effects.replacements.size(), 1u);
  EXPECT_EQ(effects.replacements[0].recovery(), 1u);
  EXPECT_EQ(effects.replacements[0].member().pid(), 4);
  EXPECT_TRUE(SameMember(*job_.IdentifySession(202), ShardId(1)));
  EXPECT_FALSE(job_.Members()[2].awaits_replacement);
  // Who opens a session late is told what it has not been told, the newcomer nothing.
  EXPECT_EQ(job_.ReplacementsSinceJoin(100).size(), 1u);
  EXPECT_EQ(job_.ReplacementsSinceJoin(202).size(), 0u);
}

TEST_F(JobRestartTest, AReplacementIsComparedLikeAnybody) {
  Close(ShardId(1));
  JoinRequest other = Request(ShardId(1), 4);
  (*other.mutable_settings())["frame_bytes"] = "2048";
  EXPECT_EQ(Refusal(other), absl::FailedPreconditionError(
                                "shard 1 has frame_bytes=2048, worker 0 joined with 1024"));
  JoinRequest stranger = Request(ShardId(1), 4);
  stranger.set_token("guess");
  EXPECT_EQ(Refusal(stranger).code(), absl::StatusCode::kPermissionDenied);
  JoinRequest larger = Request(ShardId(1), 4);
  larger.set_num_shards(3);
  EXPECT_EQ(Refusal(larger).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Join(Request(ShardId(1), 4), 202).replacements.size(), 1u);
}

TEST_F(JobRestartTest, OnlyALostShardCanBeReplaced) {
  Close(ShardId(1));
  EXPECT_THAT(std::string(Refusal(Request(WorkerId(0), 9)).message()),
              HasSubstr("the job is complete: worker 0 has already joined"));
  EXPECT_EQ(Refusal(Request(ShardId(5), 9)).code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(JobRestartTest, ANewcomerWaitsUntilTheLossIsKnown) {
  EXPECT_THAT(Join(Request(ShardId(1), 4), 202, 1).joins, IsEmpty());
  EXPECT_TRUE(Knows(201));
  EXPECT_FALSE(Knows(202));
  EXPECT_EQ(Refusal(Request(ShardId(1), 5), 1),
            absl::FailedPreconditionError("duplicate rank: shard 1 (host unknown, pid 4) waits for "
                                          "the place already"));
  const Job::Effects again = Join(Request(ShardId(1), 4), 203, 1);
  ASSERT_EQ(again.joins.size(), 1u);
  EXPECT_EQ(again.joins[0].session, 202u);
  EXPECT_EQ(again.joins[0].membership.status().code(), absl::StatusCode::kCancelled);
  const Job::Effects effects = Close(ShardId(1), 2);
  ASSERT_EQ(effects.joins.size(), 1u);
  EXPECT_EQ(effects.joins[0].session, 203u);
  EXPECT_EQ(effects.joins[0].membership->recovery(), 1u);
  EXPECT_EQ(effects.replacements.size(), 1u);
  EXPECT_FALSE(Knows(201));
  EXPECT_TRUE(Knows(203));
}

TEST_F(JobRestartTest, ANewcomerIsRefusedWhereTheOldOneLives) {
  Join(Request(ShardId(1), 4), 202, 1);
  EXPECT_THAT(Tick(2).joins, IsEmpty());
  EXPECT_THAT(Tick(4).joins, IsEmpty());
  EXPECT_THAT(Tick(6).joins, IsEmpty());
  EXPECT_THAT(Tick(8).joins, IsEmpty());
  EXPECT_THAT(Tick(10).joins, IsEmpty());
  const Job::Effects effects = Tick(11);
  ASSERT_EQ(effects.joins.size(), 1u);
  EXPECT_EQ(effects.joins[0].membership.status(),
            absl::FailedPreconditionError(
                "the job is complete: shard 1 has already joined (host unknown, pid 3)"));
}

TEST_F(JobRestartTest, ANewcomerThatGoesAwayIsForgotten) {
  Join(Request(ShardId(1), 4), 202);
  job_.JoinCancelled(202);
  EXPECT_THAT(Close(ShardId(1)).joins, IsEmpty());
  EXPECT_TRUE(job_.Members()[2].awaits_replacement);
}

TEST_F(JobRestartTest, ASilentShardIsDismissed) {
  for (double now = 0; now < 7; now += 1) Tick(now, {ShardId(1)});
  const Job::Effects effects = Tick(7, {ShardId(1)});
  ASSERT_EQ(effects.dismissals.size(), 1u);
  EXPECT_EQ(effects.dismissals[0].session, 201u);
  EXPECT_EQ(effects.dismissals[0].verdict.reason(),
            "shard 1 was lost at step 0: no heartbeat for 7.0 s; another process is to take its "
            "place");
  EXPECT_FALSE(job_.verdict().has_value());
  EXPECT_FALSE(Knows(201));
}

TEST_F(JobRestartTest, AVerdictEndsTheWaitOfNewcomers) {
  Join(Request(ShardId(1), 4), 202);
  const Job::Effects effects = Close(WorkerId(0));
  EXPECT_TRUE(effects.verdict_is_new);
  ASSERT_EQ(effects.joins.size(), 1u);
  EXPECT_EQ(effects.joins[0].membership.status().code(), absl::StatusCode::kAborted);
}

TEST_F(JobRestartTest, TheLossThatIsOneTooManyIsAVerdict) {
  Close(ShardId(1));
  Join(Request(ShardId(1), 4), 202);
  Close(ShardId(0));
  Join(Request(ShardId(0), 5), 203);
  EXPECT_THAT(std::string(Refusal(Request(ShardId(0), 6)).message()),
              HasSubstr("the job is complete: shard 0 has already joined"));
  EXPECT_TRUE(Close(ShardId(1)).verdict_is_new);
}

TEST_F(JobRestartTest, ALauncherSaysWhetherItStartsAnother) {
  Job::Effects effects;
  job_.ReportRestart(ShardId(1), "killed by signal 9 (Killed)", kStart, &effects);
  EXPECT_FALSE(effects.verdict_is_new);
  EXPECT_EQ(effects.dismissals.size(), 1u);
  job_.ReportExit(ShardId(1), "exit status 2", kStart, &effects);
  EXPECT_TRUE(effects.verdict_is_new);
  EXPECT_EQ(job_.verdict()->reason(),
            "shard 1 was lost at step 0: killed by signal 9 (Killed); it is not started again "
            "(exit status 2)");
}

TEST_F(JobRestartTest, AReplacementArrivesForTheLostOne) {
  Arrive(1, WorkerId(0), "results");
  Arrive(2, ShardId(1), "results");
  const Job::Effects lost = Close(ShardId(1));
  ASSERT_EQ(lost.meetings.size(), 1u);  // its own call
  EXPECT_EQ(lost.meetings[0].call, 2u);
  EXPECT_THAT(Arrive(3, ShardId(0), "results").meetings, IsEmpty());
  Join(Request(ShardId(1), 4), 202);
  EXPECT_EQ(Arrive(4, ShardId(1), "results").meetings.size(), 3u);
}

TEST_F(JobRestartTest, ALossEndsTheRecoveryInProgress) {
  Close(ShardId(1));
  Join(Request(ShardId(1), 4), 202);
  Arrive(1, WorkerId(0), "recovery-1");
  const Job::Effects effects = Close(ShardId(0));
  ASSERT_EQ(effects.meetings.size(), 1u);
  EXPECT_EQ(effects.meetings[0].status,
            WithSuspects(absl::AbortedError("gather for all \"recovery-1\": shard 0 was lost"),
                         {ShardId(0)}));
  EXPECT_FALSE(job_.verdict().has_value());
  // Who comes later learns the same, and all meet in the next one.
  const Job::Effects late = Arrive(2, ShardId(1), "recovery-1");
  ASSERT_EQ(late.meetings.size(), 1u);
  EXPECT_EQ(late.meetings[0].status, effects.meetings[0].status);
  EXPECT_EQ(Join(Request(ShardId(0), 5), 203).replacements[0].recovery(), 2u);
  Arrive(3, WorkerId(0), "recovery-2");
  Arrive(4, ShardId(0), "recovery-2");
  EXPECT_EQ(Arrive(5, ShardId(1), "recovery-2").meetings.size(), 3u);
}

// What workers wait in before they train, though no shard takes part.
TEST_F(JobRestartTest, AMeetingOfThoseWhoKnowOfNoReplacementEndsWithTheFirst) {
  Contribution contribution;
  contribution.kind = MeetingKind::kBarrier;
  contribution.name = "recovery-0-train";
  contribution.members = {WorkerId(0), ShardId(0)};
  Job::Effects effects;
  job_.Arrive(1, WorkerId(0), contribution, kStart, absl::Hours(1), &effects);
  EXPECT_THAT(effects.meetings, IsEmpty());
  EXPECT_THAT(Close(ShardId(1)).meetings, IsEmpty());
  const Job::Effects replaced = Join(Request(ShardId(1), 4), 202);
  ASSERT_EQ(replaced.meetings.size(), 1u);
  EXPECT_EQ(replaced.meetings[0].call, 1u);
  EXPECT_EQ(replaced.meetings[0].status.code(), absl::StatusCode::kAborted);
  Job::Effects late;
  job_.Arrive(2, ShardId(0), contribution, kStart, absl::Hours(1), &late);
  ASSERT_EQ(late.meetings.size(), 1u);
  EXPECT_EQ(late.meetings[0].status.code(), absl::StatusCode::kAborted);
}

TEST_F(JobRestartTest, ALossIsMadeGoodOnceAllHaveMet) {
  const auto evaluate = [this](double seconds) {
    Progress progress;
    progress.set_phase("evaluate");
    job_.Heartbeat(WorkerId(0), progress, At(seconds));
    Job::Effects effects;
    job_.Tick(At(seconds), &effects);
    return effects;
  };
  Close(ShardId(1));
  Join(Request(ShardId(1), 4), 202);
  Arrive(1, ShardId(0), "recovery-1");
  Arrive(2, ShardId(1), "recovery-1");
  EXPECT_EQ(Arrive(3, WorkerId(0), "recovery-1").meetings.size(), 3u);
  EXPECT_FALSE(evaluate(1).verdict_is_new);
  EXPECT_TRUE(Close(ShardId(0), 1).verdict_is_new);
}

TEST_F(JobRestartTest, AWorkerThatEndsItsTrainingEndsTheMeetingAfterALoss) {
  Close(ShardId(1));
  Join(Request(ShardId(1), 4), 202);
  Arrive(1, ShardId(0), "recovery-1");
  Arrive(2, ShardId(1), "recovery-1");
  Progress progress;
  progress.set_phase("finish");
  job_.Heartbeat(WorkerId(0), progress, At(1));
  Job::Effects effects;
  job_.Tick(At(1), &effects);
  EXPECT_TRUE(effects.verdict_is_new);
  ASSERT_EQ(effects.meetings.size(), 2u);
  EXPECT_THAT(std::string(effects.meetings[0].status.message()),
              HasSubstr("shard 1 was lost at step 0: "));
}

}  // namespace
}  // namespace ringside
