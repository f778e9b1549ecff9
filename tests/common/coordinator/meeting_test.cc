#include "common/coordinator/meeting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "common/suspects.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const absl::Time kStart = absl::UnixEpoch();
constexpr absl::Duration kTimeout = absl::Seconds(5);

Contribution Make(MeetingKind kind, std::vector<MemberId> members) {
  Contribution contribution;
  contribution.kind = kind;
  contribution.name = "m";
  contribution.members = std::move(members);
  return contribution;
}

class MeetingsTest : public ::testing::Test {
 protected:
  Contribution Barrier(std::vector<MemberId> members) {
    return Make(MeetingKind::kBarrier, std::move(members));
  }
  Contribution Reduce(std::vector<int64_t> integers, std::vector<double> doubles) {
    Contribution contribution = Make(MeetingKind::kReduce, workers_);
    contribution.integers = std::move(integers);
    contribution.doubles = std::move(doubles);
    return contribution;
  }
  Contribution Gather(std::vector<MemberId> members, std::string blob) {
    Contribution contribution = Make(MeetingKind::kGather, std::move(members));
    contribution.blob = std::move(blob);
    return contribution;
  }
  std::vector<MeetingAnswer> Arrive(uint64_t call, const MemberId& who, Contribution contribution) {
    return meetings_.Arrive(call, who, std::move(contribution), kStart, kTimeout);
  }
  // For answers to a single caller.
  absl::Status Refusal(uint64_t call, const MemberId& who, Contribution contribution) {
    const auto answers = Arrive(call, who, std::move(contribution));
    EXPECT_EQ(answers.size(), 1u);
    if (answers.empty()) return absl::OkStatus();
    EXPECT_EQ(answers[0].call, call);
    return answers[0].status;
  }

  const std::vector<MemberId> workers_ = {WorkerId(0), WorkerId(1), WorkerId(2)};
  Meetings meetings_{{WorkerId(0), WorkerId(1), WorkerId(2), ShardId(0)}};
};

TEST_F(MeetingsTest, BarrierAnswersAllWhenTheLastArrives) {
  EXPECT_THAT(Arrive(1, WorkerId(2), Barrier(workers_)), IsEmpty());
  EXPECT_THAT(Arrive(2, WorkerId(0), Barrier(workers_)), IsEmpty());
  const auto answers = Arrive(3, WorkerId(1), Barrier(workers_));
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[0].call, 2u);  // in the order of members
  EXPECT_EQ(answers[1].call, 3u);
  EXPECT_EQ(answers[2].call, 1u);
  for (const MeetingAnswer& answer : answers) EXPECT_TRUE(answer.status.ok()) << answer.status;
}

TEST_F(MeetingsTest, ABarrierOfOneIsOverAtOnce) {
  const auto answers = Arrive(1, ShardId(0), Barrier({ShardId(0)}));
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_TRUE(answers[0].status.ok());
}

TEST_F(MeetingsTest, ReduceFoldsInTheOrderOfMembers) {
  // (1e100 + 1) + -1e100 is 0 in this order and 1 in another: arrival must not matter.
  Arrive(1, WorkerId(2), Reduce({3}, {-1e100}));
  Arrive(2, WorkerId(0), Reduce({1}, {1e100}));
  const auto answers = Arrive(3, WorkerId(1), Reduce({2}, {1}));
  ASSERT_EQ(answers.size(), 3u);
  for (const MeetingAnswer& answer : answers) {
    EXPECT_THAT(answer.integers, ElementsAre(6));
    EXPECT_THAT(answer.doubles, ElementsAre(0.0));
  }
}

TEST_F(MeetingsTest, ReduceStartsFromTheFirstValueNotFromZero) {
  for (int rank : {0, 1}) Arrive(rank, WorkerId(rank), Reduce({}, {-0.0}));
  const auto answers = Arrive(2, WorkerId(2), Reduce({}, {-0.0}));
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_TRUE(std::signbit(answers[0].doubles.at(0)));
}

TEST_F(MeetingsTest, ReduceWrapsAround) {
  Arrive(0, WorkerId(0), Reduce({std::numeric_limits<int64_t>::max()}, {}));
  Arrive(1, WorkerId(1), Reduce({1}, {}));
  const auto answers = Arrive(2, WorkerId(2), Reduce({0}, {}));
  EXPECT_THAT(answers.at(0).integers, ElementsAre(std::numeric_limits<int64_t>::min()));
}

TEST_F(MeetingsTest, GatherGivesAllToTheFirstMemberAlone) {
  const std::vector<MemberId> members = {WorkerId(1), ShardId(0), WorkerId(0)};
  Arrive(1, WorkerId(0), Gather(members, "c"));
  Arrive(2, WorkerId(1), Gather(members, "a"));
  const auto answers = Arrive(3, ShardId(0), Gather(members, "b"));
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[0].call, 2u);
  EXPECT_THAT(answers[0].blobs, ElementsAre("a", "b", "c"));
  EXPECT_THAT(answers[1].blobs, IsEmpty());
  EXPECT_THAT(answers[2].blobs, IsEmpty());
}

TEST_F(MeetingsTest, GatherForAllGivesAllToEveryone) {
  const std::vector<MemberId> members = {WorkerId(1), WorkerId(0)};
  const auto gather = [&](std::string blob) {
    Contribution contribution = Gather(members, std::move(blob));
    contribution.kind = MeetingKind::kGatherForAll;
    return contribution;
  };
  Arrive(1, WorkerId(0), gather("b"));
  const auto answers = Arrive(2, WorkerId(1), gather("a"));
  ASSERT_EQ(answers.size(), 2u);
  for (const MeetingAnswer& answer : answers) EXPECT_THAT(answer.blobs, ElementsAre("a", "b"));
}

TEST_F(MeetingsTest, GatherForAllAndGatherAreNotTheSame) {
  const std::vector<MemberId> members = {WorkerId(1), WorkerId(0)};
  Contribution for_all = Gather(members, "b");
  for_all.kind = MeetingKind::kGatherForAll;
  Arrive(1, WorkerId(0), for_all);
  const auto answers = Arrive(2, WorkerId(1), Gather(members, "a"));
  ASSERT_EQ(answers.size(), 2u);
  for (const MeetingAnswer& answer : answers) {
    EXPECT_EQ(answer.status,
              absl::FailedPreconditionError("gather for all \"m\": worker 1 comes for a "
                                            "gather \"m\""));
  }
}

TEST_F(MeetingsTest, NamesAreUsedOnce) {
  Arrive(1, WorkerId(0), Barrier({WorkerId(0)}));
  EXPECT_EQ(
      Refusal(2, WorkerId(0), Barrier({WorkerId(0)})),
      absl::InvalidArgumentError("barrier \"m\": worker 0 uses a name that has been used already"));
}

TEST_F(MeetingsTest, AMistakeOfOneCallerDoesNotDisturbTheOthers) {
  EXPECT_THAT(Arrive(1, WorkerId(0), Barrier({WorkerId(0), WorkerId(1)})), IsEmpty());
  EXPECT_EQ(
      Refusal(2, WorkerId(2), Barrier({WorkerId(0), WorkerId(1)})),
      absl::InvalidArgumentError("barrier \"m\": worker 2 does not name itself among the members "
                                 "(worker 0, worker 1)"));
  EXPECT_EQ(Refusal(3, WorkerId(1), Barrier({})),
            absl::InvalidArgumentError(
                "barrier \"m\": worker 1 does not name itself among the members (nobody)"));
  EXPECT_EQ(Refusal(4, WorkerId(1), Barrier({WorkerId(1), WorkerId(1)})),
            absl::InvalidArgumentError("barrier \"m\": worker 1 names worker 1 twice"));
  EXPECT_EQ(Refusal(5, WorkerId(1), Barrier({WorkerId(1), WorkerId(7)})),
            absl::InvalidArgumentError(
                "barrier \"m\": worker 1 names worker 7, who is not a member of the job"));
  EXPECT_EQ(Refusal(6, WorkerId(0), Barrier({WorkerId(0), WorkerId(1)})),
            absl::InvalidArgumentError("barrier \"m\": worker 0 is there already"));
  Contribution nameless = Barrier({WorkerId(0), WorkerId(1)});
  nameless.name = "";
  EXPECT_EQ(Refusal(7, WorkerId(0), nameless),
            absl::InvalidArgumentError("barrier \"\": a meeting must have a name"));
  EXPECT_EQ(Arrive(8, WorkerId(1), Barrier({WorkerId(0), WorkerId(1)})).size(), 2u);
}

TEST_F(MeetingsTest, DifferingMembersFailTheMeetingForAll) {
  Arrive(1, WorkerId(0), Barrier(workers_));
  const auto answers = Arrive(2, WorkerId(1), Barrier({WorkerId(0), WorkerId(1)}));
  ASSERT_EQ(answers.size(), 2u);
  const absl::Status expected = absl::FailedPreconditionError(
      "barrier \"m\": the member lists differ: worker 1 names worker 0, worker 1; worker 0 "
      "worker 0, worker 1, worker 2");
  EXPECT_EQ(answers[0].status, expected);
  EXPECT_EQ(answers[1].status, expected);
  // Who comes late learns the same.
  EXPECT_EQ(Refusal(3, WorkerId(2), Barrier(workers_)), expected);
}

TEST_F(MeetingsTest, DifferingLengthsFailTheMeetingForAll) {
  Arrive(1, WorkerId(0), Reduce({1, 2}, {1}));
  const auto answers = Arrive(2, WorkerId(1), Reduce({1}, {1}));
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[1].status,
            absl::FailedPreconditionError("reduction \"m\": the lengths differ: worker 1 brings 1 "
                                          "integers and 1 doubles; worker 0 2 and 1"));
}

TEST_F(MeetingsTest, DifferingKindsFailTheMeetingForAll) {
  Arrive(1, WorkerId(0), Reduce({}, {}));
  const auto answers = Arrive(2, WorkerId(1), Barrier(workers_));
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0].status,
            absl::FailedPreconditionError("reduction \"m\": worker 1 comes for a barrier \"m\""));
}

TEST_F(MeetingsTest, ExpiryNamesWhoIsMissing) {
  meetings_.Arrive(1, WorkerId(0), Barrier(workers_), kStart, absl::Seconds(5));
  meetings_.Arrive(2, WorkerId(2), Barrier(workers_), kStart, absl::Seconds(9));
  EXPECT_THAT(meetings_.Expire(kStart + absl::Milliseconds(4999)), IsEmpty());
  const auto answers = meetings_.Expire(kStart + absl::Seconds(5));
  ASSERT_EQ(answers.size(), 2u);
  for (const MeetingAnswer& answer : answers) {
    EXPECT_EQ(answer.status.code(), absl::StatusCode::kDeadlineExceeded);
    EXPECT_EQ(std::string(answer.status.message()),
              "barrier \"m\": worker 0 waited 5s for worker 1");
    EXPECT_TRUE(SameMembers(SuspectsOf(answer.status), {WorkerId(1)}));
  }
  EXPECT_EQ(Refusal(3, WorkerId(1), Barrier(workers_)).code(), absl::StatusCode::kDeadlineExceeded);
}

TEST_F(MeetingsTest, WhoWentAwayIsMissingAgain) {
  Arrive(1, WorkerId(0), Barrier({WorkerId(0), WorkerId(1)}));
  Arrive(2, WorkerId(2), Barrier({WorkerId(2), WorkerId(1)}));  // fails: other members
  Contribution barrier = Barrier({WorkerId(0), WorkerId(1)});
  barrier.name = "n";
  Arrive(3, WorkerId(0), barrier);
  meetings_.Withdraw(3);
  meetings_.Withdraw(3);
  EXPECT_THAT(Arrive(4, WorkerId(1), barrier), IsEmpty());
  EXPECT_EQ(Arrive(5, WorkerId(0), barrier).size(), 2u);
}

TEST_F(MeetingsTest, NobodyWaitsForAMemberThatLeft) {
  Arrive(1, WorkerId(0), Barrier(workers_));
  Contribution without = Barrier({WorkerId(1), WorkerId(2)});
  without.name = "without";
  Arrive(2, WorkerId(1), without);
  const auto answers = meetings_.MemberLeft(WorkerId(0));
  EXPECT_THAT(answers, IsEmpty());  // it had arrived
  const auto ended = meetings_.MemberLeft(WorkerId(2));
  ASSERT_EQ(ended.size(), 2u);
  EXPECT_EQ(ended[0].status,
            absl::FailedPreconditionError("barrier \"m\": worker 2 has left the job"));
  Contribution late = Barrier({WorkerId(1), WorkerId(0)});
  late.name = "late";
  EXPECT_EQ(Refusal(9, WorkerId(1), late),
            absl::FailedPreconditionError("barrier \"late\": worker 0 has left the job"));
}

TEST_F(MeetingsTest, FailAllEndsEveryMeeting) {
  Arrive(1, WorkerId(0), Barrier(workers_));
  Contribution other = Barrier({WorkerId(1), WorkerId(2)});
  other.name = "n";
  Arrive(2, WorkerId(1), other);
  const auto answers = meetings_.FailAll(absl::AbortedError("over"));
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0].status, absl::AbortedError("over"));
  EXPECT_THAT(meetings_.FailAll(absl::AbortedError("over")), IsEmpty());
  EXPECT_EQ(Refusal(3, WorkerId(1), Barrier(workers_)), absl::AbortedError("over"));
}

TEST_F(MeetingsTest, AMeetingWaitsForTheReplacementOfALostMember) {
  Arrive(1, WorkerId(0), Barrier({WorkerId(0), ShardId(0)}));
  EXPECT_THAT(meetings_.MemberLost(ShardId(0)), IsEmpty());
  EXPECT_THAT(meetings_.MemberReplaced(ShardId(0), 1), IsEmpty());
  EXPECT_EQ(Arrive(2, ShardId(0), Barrier({WorkerId(0), ShardId(0)})).size(), 2u);
}

TEST_F(MeetingsTest, WhatALostMemberBroughtIsLost) {
  Arrive(1, ShardId(0), Barrier({WorkerId(0), ShardId(0)}));
  const auto own = meetings_.MemberLost(ShardId(0));
  ASSERT_EQ(own.size(), 1u);
  EXPECT_EQ(own[0].call, 1u);
  EXPECT_EQ(own[0].status.code(), absl::StatusCode::kAborted);
  // Nobody is there any more, so the next to come sets what it is.
  EXPECT_THAT(Arrive(2, WorkerId(0), Barrier({WorkerId(0), WorkerId(1)})), IsEmpty());
  EXPECT_EQ(Arrive(3, WorkerId(1), Barrier({WorkerId(0), WorkerId(1)})).size(), 2u);
}

class RecoveryMeetingsTest : public MeetingsTest {
 protected:
  absl::Status Refused(const std::string& name) {
    return Refusal(call_++, WorkerId(0), Named(name));
  }
  Contribution Named(const std::string& name) {
    Contribution contribution = Barrier({WorkerId(0), ShardId(0)});
    contribution.name = name;
    return contribution;
  }
  static absl::Status ShardWasLost(const std::string& name) {
    return WithSuspects(absl::AbortedError("barrier \"" + name + "\": shard 0 was lost"),
                        {ShardId(0)});
  }
  uint64_t call_ = 100;
};

TEST_F(RecoveryMeetingsTest, ALossEndsIt) {
  EXPECT_THAT(Arrive(1, WorkerId(0), Named("recovery-1")), IsEmpty());
  EXPECT_THAT(Arrive(2, WorkerId(0), Named("recovered")), IsEmpty());
  const auto answers = meetings_.MemberLost(ShardId(0));
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].call, 1u);
  EXPECT_EQ(answers[0].status, ShardWasLost("recovery-1"));
  EXPECT_EQ(Refused("recovery-1"), ShardWasLost("recovery-1"));
}

TEST_F(RecoveryMeetingsTest, ALossEndsItForTheLostMemberToo) {
  EXPECT_THAT(Arrive(1, ShardId(0), Named("recovery-1")), IsEmpty());
  EXPECT_EQ(meetings_.MemberLost(ShardId(0)).size(), 1u);
  EXPECT_EQ(Refused("recovery-1"), ShardWasLost("recovery-1"));
}

TEST_F(RecoveryMeetingsTest, ALossThatDoesNotConcernItDoesNot) {
  Contribution workers = Barrier({WorkerId(0), WorkerId(1)});
  workers.name = "recovery-1-of-workers";
  Arrive(1, WorkerId(0), workers);
  EXPECT_THAT(meetings_.MemberLost(ShardId(0)), IsEmpty());
  EXPECT_EQ(Arrive(2, WorkerId(1), workers).size(), 2u);
}

TEST_F(RecoveryMeetingsTest, NoneBeginsWhileAMemberIsLost) {
  meetings_.MemberLost(ShardId(0));
  EXPECT_EQ(Refused("recovery-1"), ShardWasLost("recovery-1"));
}

TEST_F(RecoveryMeetingsTest, NoneBeginsThatIsOutOfDate) {
  meetings_.MemberLost(ShardId(0));
  meetings_.MemberReplaced(ShardId(0), 1);
  meetings_.MemberLost(ShardId(0));
  meetings_.MemberReplaced(ShardId(0), 2);
  EXPECT_EQ(Refused("recovery-1"), ShardWasLost("recovery-1"));
  EXPECT_EQ(Refused("recovery-1-ready"), ShardWasLost("recovery-1-ready"));
  EXPECT_THAT(Arrive(1, WorkerId(0), Named("recovery-2")), IsEmpty());
  EXPECT_THAT(Arrive(2, WorkerId(0), Named("recovery-10")), IsEmpty());
  EXPECT_THAT(Arrive(3, WorkerId(0), Named("recovery-")), IsEmpty());
  EXPECT_EQ(Arrive(4, ShardId(0), Named("recovery-2")).size(), 2u);
}

TEST_F(RecoveryMeetingsTest, AReplacementEndsThoseOfBefore) {
  Contribution workers = Barrier({WorkerId(0), WorkerId(1)});
  workers.name = "recovery-1";
  Arrive(1, WorkerId(0), workers);
  EXPECT_THAT(meetings_.MemberLost(ShardId(0)), IsEmpty());
  const auto answers = meetings_.MemberReplaced(ShardId(0), 2);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].status, ShardWasLost("recovery-1"));
}

}  // namespace
}  // namespace ringside
