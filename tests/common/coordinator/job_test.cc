#include "common/coordinator/job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/suspects.h"

namespace ringside {
namespace {

const absl::Time kStart = absl::UnixEpoch();

JoinRequest Request(const MemberId& id, int workers) {
  JoinRequest request;
  *request.mutable_member()->mutable_id() = id;
  request.set_world_size(workers);
  request.set_timeout_ms(10000);
  return request;
}

class JobTest : public ::testing::Test {
 protected:
  // Worker r joins under session 100 + r.
  Job::Effects Join(int rank, int workers) {
    Job::Effects effects;
    const auto session = job_.Join(Request(WorkerId(rank), workers), 100 + rank, kStart, &effects);
    EXPECT_TRUE(session.ok()) << session.status();
    return effects;
  }
  void Complete(int workers) {
    for (int rank = 0; rank < workers; ++rank) Join(rank, workers);
    EXPECT_TRUE(job_.complete());
  }
  Job::Effects Tick(double seconds) {
    Job::Effects effects;
    job_.Tick(kStart + absl::Seconds(seconds), &effects);
    return effects;
  }
  static Contribution Barrier(std::vector<MemberId> members) {
    Contribution contribution;
    contribution.name = "b";
    contribution.members = std::move(members);
    return contribution;
  }

  Job job_{Rendezvous::Config{}};
};

TEST_F(JobTest, AnswersAllJoinersWhenComplete) {
  EXPECT_TRUE(Join(1, 2).joins.empty());
  EXPECT_TRUE(job_.Members().empty());
  EXPECT_FALSE(job_.Ended());
  const Job::Effects effects = Join(0, 2);
  ASSERT_EQ(effects.joins.size(), 2u);
  EXPECT_EQ(effects.joins[0].session, 101u);
  EXPECT_EQ(effects.joins[0].membership->session(), 101u);
  EXPECT_EQ(effects.joins[1].membership->session(), 100u);
  EXPECT_EQ(effects.joins[1].membership->workers_size(), 2);
  EXPECT_EQ(job_.Members().size(), 2u);
}

TEST_F(JobTest, KnowsItsCallersBySessionAndGeneration) {
  Caller caller;
  caller.set_session(101);
  caller.set_generation(1);
  EXPECT_EQ(job_.Identify(caller).status().code(), absl::StatusCode::kUnauthenticated);
  Complete(2);
  EXPECT_TRUE(SameMember(*job_.Identify(caller), WorkerId(1)));
  caller.set_generation(2);
  EXPECT_EQ(job_.Identify(caller).status().code(), absl::StatusCode::kUnauthenticated);
  caller.set_session(102);
  EXPECT_EQ(job_.Identify(caller).status().code(), absl::StatusCode::kUnauthenticated);
}

TEST_F(JobTest, ExpiresJoinersOnce) {
  Join(0, 2);
  const Job::Effects effects = Tick(10);
  ASSERT_EQ(effects.joins.size(), 1u);
  EXPECT_EQ(effects.joins[0].membership.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(Tick(20).joins.empty());
  job_.JoinCancelled(100);  // too late to matter
  Join(0, 2);
}

TEST_F(JobTest, ACancelledJoinFreesTheSlot) {
  Join(0, 2);
  job_.JoinCancelled(100);
  EXPECT_EQ(job_.RendezvousProgress(), "have nobody");
  Join(0, 2);
  EXPECT_EQ(Join(1, 2).joins.size(), 2u);
}

TEST_F(JobTest, AProcessThatAsksAgainGetsOneAnswer) {
  JoinRequest request = Request(WorkerId(0), 2);
  request.set_incarnation(7);
  Job::Effects effects;
  ASSERT_TRUE(job_.Join(request, 1, kStart, &effects).ok());
  ASSERT_TRUE(job_.Join(request, 2, kStart, &effects).ok());
  ASSERT_EQ(effects.joins.size(), 1u);
  EXPECT_EQ(effects.joins[0].session, 1u);
  EXPECT_EQ(effects.joins[0].membership.status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(Join(1, 2).joins.size(), 2u);
  Job::Effects late;
  EXPECT_EQ(*job_.Join(request, 3, kStart, &late), 2u);
  ASSERT_EQ(late.joins.size(), 1u);
  EXPECT_EQ(late.joins[0].membership->session(), 2u);
}

TEST_F(JobTest, AVerdictEndsMeetingsAndIsNewOnce) {
  Complete(2);
  Job::Effects effects;
  job_.Arrive(1, WorkerId(0), Barrier({WorkerId(0), WorkerId(1)}), kStart, absl::Seconds(60),
              &effects);
  EXPECT_TRUE(effects.meetings.empty());
  job_.SessionClosed(WorkerId(1), kStart, &effects);
  EXPECT_TRUE(effects.verdict_is_new);
  ASSERT_EQ(effects.meetings.size(), 1u);
  EXPECT_EQ(effects.meetings[0].status.code(), absl::StatusCode::kAborted);
  EXPECT_EQ(std::string(effects.meetings[0].status.message()), job_.verdict()->reason());
  EXPECT_TRUE(SameMembers(SuspectsOf(effects.meetings[0].status), {WorkerId(1)}));

  Job::Effects later;
  job_.Arrive(2, WorkerId(0), Barrier({WorkerId(0), WorkerId(1)}), kStart, absl::Seconds(60),
              &later);
  ASSERT_EQ(later.meetings.size(), 1u);
  EXPECT_EQ(later.meetings[0].status.code(), absl::StatusCode::kAborted);
  job_.SessionClosed(WorkerId(0), kStart, &later);
  EXPECT_FALSE(later.verdict_is_new);
  EXPECT_TRUE(job_.Ended());
  EXPECT_EQ(job_.Join(Request(WorkerId(0), 2), 5, kStart, &later).status().code(),
            absl::StatusCode::kAborted);
}

TEST_F(JobTest, AnExitBeforeCompletionEndsTheWaitOfAll) {
  Join(0, 2);
  Job::Effects effects;
  job_.ReportExit(WorkerId(1), "exited with status 2", kStart, &effects);
  EXPECT_TRUE(effects.verdict_is_new);
  ASSERT_EQ(effects.joins.size(), 1u);
  EXPECT_EQ(effects.joins[0].membership.status().code(), absl::StatusCode::kAborted);
  EXPECT_EQ(job_.verdict()->reason(),
            "worker 1 was lost before all had joined: exited with status 2");
  EXPECT_TRUE(job_.Ended());
  Job::Effects none;
  job_.ReportExit(WorkerId(0), "exited with status 1", kStart, &none);
  EXPECT_FALSE(none.verdict_is_new);
}

TEST_F(JobTest, AnExitOfAStrangerIsIgnored) {
  Complete(1);
  Job::Effects effects;
  job_.ReportExit(ShardId(4), "exited", kStart, &effects);
  EXPECT_FALSE(job_.verdict().has_value());
}

TEST_F(JobTest, EndsWhenAllHaveLeft) {
  Complete(2);
  Job::Effects effects;
  job_.Arrive(1, WorkerId(0), Barrier({WorkerId(0), WorkerId(1)}), kStart, absl::Seconds(60),
              &effects);
  job_.Leave(WorkerId(1), kStart, &effects);
  ASSERT_EQ(effects.meetings.size(), 1u);
  EXPECT_EQ(effects.meetings[0].status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(job_.Ended());
  job_.Leave(WorkerId(0), kStart, &effects);
  EXPECT_TRUE(job_.Ended());
  EXPECT_TRUE(job_.Members()[0].left);
  EXPECT_FALSE(job_.verdict().has_value());
}

TEST_F(JobTest, KeepsTheProgressOfMembers) {
  Complete(1);
  Progress progress;
  progress.set_step(5);
  job_.Heartbeat(WorkerId(0), progress, kStart);
  EXPECT_EQ(job_.Members()[0].progress.step(), 5);
}

}  // namespace
}  // namespace ringside
