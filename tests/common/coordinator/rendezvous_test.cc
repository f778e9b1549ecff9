#include "common/coordinator/rendezvous.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/suspects.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

const absl::Time kStart = absl::UnixEpoch();

JoinRequest Request(const MemberId& id, int workers = 3, int shards = 0) {
  JoinRequest request;
  *request.mutable_member()->mutable_id() = id;
  request.mutable_member()->mutable_host()->set_hostname("n1");
  request.mutable_member()->set_pid(100 + id.rank());
  request.set_world_size(workers);
  request.set_num_shards(shards);
  request.set_timeout_ms(10000);
  return request;
}

void AddParameter(JoinRequest* request, const std::string& name, std::vector<int64_t> shape) {
  ParameterDescription* parameter = request->add_parameters();
  parameter->set_name(name);
  parameter->set_dtype("float32");
  for (int64_t extent : shape) parameter->add_shape(extent);
}

class RendezvousTest : public ::testing::Test {
 protected:
  absl::StatusOr<Rendezvous::Admission> Join(const JoinRequest& request) {
    return rendezvous_.Join(request, ++session_, kStart);
  }
  void ExpectJoins(const JoinRequest& request) {
    const auto admission = Join(request);
    EXPECT_TRUE(admission.ok()) << admission.status();
  }
  void ExpectRefused(const JoinRequest& request, const std::string& message) {
    const auto admission = Join(request);
    EXPECT_EQ(admission.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(std::string(admission.status().message()), message);
  }

  Rendezvous rendezvous_{Rendezvous::Config{}};
  uint64_t session_ = 0;
};

TEST_F(RendezvousTest, CompletesWhenAllAreThere) {
  JoinRequest shard = Request(ShardId(0), 2, 1);
  (*shard.mutable_settings())["strategy"] = "ps";
  JoinRequest worker0 = Request(WorkerId(0), 2, 1);
  (*worker0.mutable_settings())["strategy"] = "ps";
  (*worker0.mutable_settings())["seed"] = "1";
  AddParameter(&worker0, "w", {2, 3});
  JoinRequest worker1 = worker0;
  *worker1.mutable_member() = Request(WorkerId(1), 2, 1).member();

  EXPECT_TRUE(rendezvous_.empty());
  ExpectJoins(shard);
  EXPECT_EQ(rendezvous_.Progress(), "have shard 0; missing worker 0, worker 1");
  ExpectJoins(worker1);
  EXPECT_EQ(rendezvous_.Progress(), "have worker 1, shard 0; missing worker 0");
  EXPECT_FALSE(rendezvous_.complete());
  ExpectJoins(worker0);
  EXPECT_TRUE(rendezvous_.complete());
  EXPECT_EQ(rendezvous_.Progress(), "have worker 0, worker 1, shard 0");

  const Membership membership = rendezvous_.MembershipFor(2);
  EXPECT_EQ(membership.generation(), 1u);
  EXPECT_EQ(membership.session(), 2u);
  EXPECT_EQ(membership.lease_ms(), 10000);
  ASSERT_EQ(membership.workers_size(), 2);
  EXPECT_EQ(membership.workers(0).pid(), 100);
  EXPECT_EQ(membership.workers(1).pid(), 101);
  ASSERT_EQ(membership.shards_size(), 1);
  EXPECT_THAT(membership.settings(),
              UnorderedElementsAre(Pair("strategy", "ps"), Pair("seed", "1")));
  ASSERT_EQ(membership.parameters_size(), 1);
  EXPECT_THAT(membership.parameters(0).shape(), ElementsAre(2, 3));
  EXPECT_EQ(rendezvous_.SessionOf(WorkerId(1)), 2u);
}

TEST_F(RendezvousTest, AWorldOfOneCompletesAtOnce) {
  ExpectJoins(Request(WorkerId(0), 1, 0));
  EXPECT_TRUE(rendezvous_.complete());
}

TEST_F(RendezvousTest, SaysThatNobodyIsThere) {
  EXPECT_EQ(rendezvous_.Progress(), "have nobody");
  Rendezvous::Config config;
  config.world_size = 4;
  config.num_shards = 1;
  EXPECT_EQ(Rendezvous(config).Progress(), "have nobody; missing workers 0-3, shard 0");
}

TEST_F(RendezvousTest, RefusesADuplicateRank) {
  ExpectJoins(Request(WorkerId(1)));
  ExpectRefused(Request(WorkerId(1)),
                "duplicate rank: worker 1 has already joined (host n1, pid 101)");
  EXPECT_EQ(rendezvous_.Progress(), "have worker 1; missing worker 0, worker 2");
  ExpectJoins(Request(WorkerId(0)));
  ExpectJoins(Request(WorkerId(2)));
  EXPECT_TRUE(rendezvous_.complete());
  ExpectRefused(Request(WorkerId(1)),
                "the job is complete: worker 1 has already joined (host n1, pid 101)");
}

TEST_F(RendezvousTest, FreesTheSlotOfAJoinerThatWentAway) {
  ExpectJoins(Request(WorkerId(1)));
  rendezvous_.Withdraw(session_);
  EXPECT_TRUE(rendezvous_.empty());
  ExpectJoins(Request(WorkerId(1)));
  rendezvous_.Withdraw(12345);  // nobody's session
  EXPECT_EQ(rendezvous_.Progress(), "have worker 1; missing worker 0, worker 2");
}

TEST_F(RendezvousTest, AWithdrawalAfterCompletionChangesNothing) {
  ExpectJoins(Request(WorkerId(0), 1));
  rendezvous_.Withdraw(session_);
  EXPECT_TRUE(rendezvous_.complete());
  EXPECT_EQ(rendezvous_.Members().size(), 1u);
}

TEST_F(RendezvousTest, WhoWentAwayNoLongerSetsTheTerms) {
  JoinRequest first = Request(WorkerId(0));
  (*first.mutable_settings())["seed"] = "1";
  AddParameter(&first, "w", {1});
  ExpectJoins(first);
  rendezvous_.Withdraw(session_);
  JoinRequest second = Request(WorkerId(1), 2, 1);
  (*second.mutable_settings())["seed"] = "2";
  AddParameter(&second, "v", {1});
  ExpectJoins(second);
  ExpectRefused(first, "worker 0 expects 3 workers, worker 1 joined with 2");
}

TEST_F(RendezvousTest, RefusesRanksOutOfRange) {
  ExpectRefused(Request(WorkerId(3), 3, 0),
                "worker 3 is out of range: there are 3 workers, counted from 0");
  ExpectRefused(Request(WorkerId(-1), 3, 0),
                "worker -1 is out of range: there are 3 workers, counted from 0");
  ExpectRefused(Request(ShardId(2), 3, 2),
                "shard 2 is out of range: there are 2 shards, counted from 0");
  ExpectRefused(Request(ShardId(0), 3, 0),
                "shard 0 is out of range: there are 0 shards, counted from 0");
  ExpectRefused(Request(MemberId(), 3, 0), "a process without a role (0) asks to join");
}

TEST_F(RendezvousTest, RefusesSizesThatMakeNoSense) {
  ExpectRefused(Request(WorkerId(0), 0, 0), "worker 0 expects 0 workers: must be from 1 to 65536");
  ExpectRefused(Request(WorkerId(0), 65537, 0),
                "worker 0 expects 65537 workers: must be from 1 to 65536");
  ExpectRefused(Request(WorkerId(0), 1, -1), "worker 0 expects -1 shards: must be from 0 to 65536");
}

TEST_F(RendezvousTest, RefusesDifferingSizes) {
  ExpectJoins(Request(WorkerId(0), 3, 1));
  ExpectRefused(Request(WorkerId(1), 4, 1), "worker 1 expects 4 workers, worker 0 joined with 3");
  ExpectRefused(Request(ShardId(0), 3, 2), "shard 0 expects 2 shards, worker 0 joined with 1");
}

TEST_F(RendezvousTest, RefusesSizesThatTheCoordinatorWasNotStartedFor) {
  Rendezvous::Config config;
  config.world_size = 2;
  config.num_shards = 0;
  Rendezvous rendezvous(config);
  EXPECT_EQ(rendezvous.Join(Request(WorkerId(0), 3, 0), 1, kStart).status().message(),
            "worker 0 expects 3 workers, the coordinator was started for 2");
  EXPECT_EQ(rendezvous.Join(Request(WorkerId(0), 2, 1), 2, kStart).status().message(),
            "worker 0 expects 1 shards, the coordinator was started for 0");
  EXPECT_TRUE(rendezvous.Join(Request(WorkerId(0), 2, 0), 3, kStart).ok());
}

TEST_F(RendezvousTest, RefusesDifferingSettings) {
  JoinRequest worker0 = Request(WorkerId(0));
  (*worker0.mutable_settings())["learning_rate"] = "0.1";
  (*worker0.mutable_settings())["only_here"] = "1";
  JoinRequest worker1 = Request(WorkerId(1));
  (*worker1.mutable_settings())["learning_rate"] = "0.2";
  (*worker1.mutable_settings())["only_there"] = "1";
  ExpectJoins(worker0);
  ExpectRefused(worker1, "worker 1 has learning_rate=0.2, worker 0 joined with 0.1");
  EXPECT_EQ(rendezvous_.Progress(),
            "have worker 0; missing worker 1, worker 2; refused: worker 1 has learning_rate=0.2, "
            "worker 0 joined with 0.1");
  (*worker1.mutable_settings())["learning_rate"] = "0.1";
  ExpectJoins(worker1);
  EXPECT_EQ(rendezvous_.Progress(), "have worker 0, worker 1; missing worker 2");
  JoinRequest worker2 = Request(WorkerId(2));
  (*worker2.mutable_settings())["only_there"] = "2";
  ExpectRefused(worker2, "worker 2 has only_there=2, worker 1 joined with 1");
}

TEST_F(RendezvousTest, NamesAllSettingsThatDifferAndHashesOnlyAsALastResort) {
  JoinRequest worker0 = Request(WorkerId(0));
  auto& settings0 = *worker0.mutable_settings();
  settings0["batch_size"] = "8";
  settings0["bucket_plan_sha256"] = "aa";
  settings0["model"] = "mlp";
  ExpectJoins(worker0);
  JoinRequest worker1 = Request(WorkerId(1));
  auto& settings1 = *worker1.mutable_settings();
  settings1["batch_size"] = "9";
  settings1["bucket_plan_sha256"] = "bb";
  settings1["model"] = "lenet";
  ExpectRefused(worker1,
                "worker 1 has batch_size=9, worker 0 joined with 8; "
                "worker 1 has model=lenet, worker 0 joined with mlp");
  settings1["batch_size"] = "8";
  settings1["model"] = "mlp";
  ExpectRefused(worker1, "worker 1 has bucket_plan_sha256=bb, worker 0 joined with aa");
}

TEST_F(RendezvousTest, RefusesDifferingModels) {
  JoinRequest worker0 = Request(WorkerId(0));
  AddParameter(&worker0, "fc1.weight", {128, 784});
  AddParameter(&worker0, "fc1.bias", {128});
  ExpectJoins(worker0);

  JoinRequest shape = Request(WorkerId(1));
  AddParameter(&shape, "fc1.weight", {128, 784});
  AddParameter(&shape, "fc1.bias", {64});
  ExpectRefused(shape,
                "the models differ: parameter 1 of worker 1 is fc1.bias float32 [64], of worker 0 "
                "fc1.bias float32 [128]");
  JoinRequest fewer = Request(WorkerId(1));
  AddParameter(&fewer, "fc1.weight", {128, 784});
  ExpectRefused(fewer,
                "the models differ: worker 1 has 1 parameters, worker 0 2; parameter 1 (fc1.bias "
                "float32 [128]) is only with worker 0");
  JoinRequest more = worker0;
  *more.mutable_member() = fewer.member();
  AddParameter(&more, "fc2.weight", {10, 128});
  ExpectRefused(more,
                "the models differ: worker 1 has 3 parameters, worker 0 2; parameter 2 (fc2.weight "
                "float32 [10,128]) is only with worker 1");
  JoinRequest dtype = worker0;
  *dtype.mutable_member() = fewer.member();
  dtype.mutable_parameters(0)->set_dtype("float64");
  ExpectRefused(dtype,
                "the models differ: parameter 0 of worker 1 is fc1.weight float64 [128,784], of "
                "worker 0 fc1.weight float32 [128,784]");
}

TEST_F(RendezvousTest, RefusesAWrongTokenBeforeAnythingElse) {
  Rendezvous::Config config;
  config.token = "secret";
  Rendezvous rendezvous(config);
  JoinRequest request = Request(WorkerId(99));
  for (const char* token : {"", "secreT", "secret "}) {
    request.set_token(token);
    const absl::Status status = rendezvous.Join(request, 1, kStart).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
    EXPECT_THAT(std::string(status.message()), HasSubstr("worker 99 has the wrong token"));
  }
  request = Request(WorkerId(0));
  request.set_token("secret");
  EXPECT_TRUE(rendezvous.Join(request, 1, kStart).ok());
}

TEST_F(RendezvousTest, ExpiresEachJoinerAtItsOwnTime) {
  JoinRequest patient = Request(WorkerId(0));
  JoinRequest hasty = Request(WorkerId(1));
  hasty.set_timeout_ms(1000);
  ExpectJoins(patient);
  ExpectJoins(hasty);
  EXPECT_TRUE(rendezvous_.Expire(kStart + absl::Milliseconds(999)).empty());
  const auto dismissed = rendezvous_.Expire(kStart + absl::Milliseconds(1000));
  ASSERT_EQ(dismissed.size(), 1u);
  EXPECT_EQ(dismissed[0].session, 2u);
  EXPECT_EQ(dismissed[0].status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(std::string(dismissed[0].status.message()),
            "worker 1 waited in vain for the others to join: have worker 0, worker 1; missing "
            "worker 2");
  EXPECT_TRUE(SameMembers(SuspectsOf(dismissed[0].status), {WorkerId(2)}));
  EXPECT_EQ(rendezvous_.Progress(), "have worker 0; missing worker 1, worker 2");
  EXPECT_EQ(rendezvous_.Expire(kStart + absl::Seconds(10)).size(), 1u);
}

TEST_F(RendezvousTest, UsesItsOwnTimeoutForJoinersWithoutOne) {
  Rendezvous::Config config;
  config.join_timeout = absl::Seconds(5);
  Rendezvous rendezvous(config);
  JoinRequest request = Request(WorkerId(0));
  request.set_timeout_ms(0);
  ASSERT_TRUE(rendezvous.Join(request, 1, kStart).ok());
  EXPECT_TRUE(rendezvous.Expire(kStart + absl::Milliseconds(4999)).empty());
  EXPECT_EQ(rendezvous.Expire(kStart + absl::Seconds(5)).size(), 1u);
}

TEST_F(RendezvousTest, NobodyExpiresOnceComplete) {
  ExpectJoins(Request(WorkerId(0), 1));
  EXPECT_TRUE(rendezvous_.Expire(kStart + absl::Hours(1)).empty());
}

TEST_F(RendezvousTest, AProcessMayAskAgain) {
  JoinRequest request = Request(WorkerId(0), 2);
  request.set_incarnation(77);
  ExpectJoins(request);
  const auto again = Join(request);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->session, 2u);
  ASSERT_TRUE(again->replaced.has_value());
  EXPECT_EQ(*again->replaced, 1u);
  request.set_incarnation(78);
  ExpectRefused(request, "duplicate rank: worker 0 has already joined (host n1, pid 100)");

  ExpectJoins(Request(WorkerId(1), 2));
  ASSERT_TRUE(rendezvous_.complete());
  request.set_incarnation(77);
  const auto late = Join(request);
  ASSERT_TRUE(late.ok()) << late.status();
  EXPECT_EQ(late->session, 2u);
  EXPECT_FALSE(late->replaced.has_value());
}

}  // namespace
}  // namespace ringside
