// Shards that are lost and replaced: coordinator and clients in one process, over real gRPC.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "common/coordinator/recovery_meeting.h"
#include "common/network/grpc_server.h"
#include "coordinator.grpc.pb.h"
#include "tests/common/coordinator/coordinator_cluster.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

CoordinatorServer::Config Tolerant(int restarts, absl::Duration lease = absl::Seconds(10)) {
  CoordinatorServer::Config config = ServerConfig(lease);
  config.restart_shards = restarts;
  return config;
}

// Takes the replacements that a client learns of.
class ReplacementProbe {
 public:
  void Watch(CoordinatorClient* client) {
    client->SetReplacementHandler([this](const Replacement& replacement) {
      MutexLock lock(&mutex_);
      seen_.push_back(replacement);
      changed_.NotifyAll();
    });
  }
  // The numbers of the first `count`; fewer where no more come.
  std::vector<uint32_t> Await(size_t count) {
    const absl::Time deadline = absl::Now() + kLong;
    MutexLock lock(&mutex_);
    while (seen_.size() < count && changed_.WaitUntil(&mutex_, deadline)) {
    }
    std::vector<uint32_t> numbers;
    for (const Replacement& replacement : seen_) numbers.push_back(replacement.recovery());
    return numbers;
  }
  Member member(size_t i) {
    MutexLock lock(&mutex_);
    return seen_.at(i).member();
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::vector<Replacement> seen_ ABSL_GUARDED_BY(mutex_);
};

class CoordinatorRestartTest : public ::testing::Test {
 protected:
  void Start(int workers, int shards, const CoordinatorServer::Config& config) {
    workers_ = workers;
    shards_ = shards;
    server_ = StartServer(config);
    clients_ = JoinAll(*server_, workers, shards);
  }
  std::unique_ptr<CoordinatorClient>& shard(int number) { return clients_[workers_ + number]; }
  absl::StatusOr<std::unique_ptr<CoordinatorClient>> JoinAgain(int number, int port) {
    JoinRequest request = Request(ShardId(number), workers_, shards_);
    request.mutable_member()->set_data_endpoint(absl::StrCat("127.0.0.1:", port));
    return CoordinatorClient::Join(ClientConfig(server_->endpoint()), request);
  }
  // Ends the shard's client and joins in its place.
  void Replace(int number, int port) {
    shard(number).reset();
    auto replacement = JoinAgain(number, port);
    ASSERT_TRUE(replacement.ok()) << replacement.status();
    shard(number) = *std::move(replacement);
  }
  bool Awaits(int number) { return server_->Members()[workers_ + number].awaits_replacement; }
  void LeaveAll() {
    for (auto& client : clients_) EXPECT_TRUE(client->Leave().ok());
    EXPECT_TRUE(server_->AwaitEnd(kLong));
    EXPECT_FALSE(server_->verdict().has_value());
  }

  int workers_ = 0;
  int shards_ = 0;
  std::unique_ptr<CoordinatorServer> server_;
  Clients clients_;
};

TEST_F(CoordinatorRestartTest, AllAreToldOfTheReplacement) {
  Start(2, 2, Tolerant(1));
  ReplacementProbe probes[3];
  for (int i : {0, 1, 2}) probes[i].Watch(clients_[i].get());
  EXPECT_EQ(shard(1)->membership().recovery(), 0u);
  Replace(1, 6001);
  EXPECT_EQ(shard(1)->membership().recovery(), 1u);
  EXPECT_EQ(shard(1)->membership().generation(), 1u);
  EXPECT_EQ(shard(1)->membership().shards(1).data_endpoint(), "127.0.0.1:6001");
  for (int i : {0, 1, 2}) {
    EXPECT_THAT(probes[i].Await(1), ElementsAre(1u));
    EXPECT_EQ(probes[i].member(0).data_endpoint(), "127.0.0.1:6001");
    EXPECT_TRUE(SameMember(probes[i].member(0).id(), ShardId(1)));
    const Membership current = clients_[i]->current_membership();
    EXPECT_EQ(current.recovery(), 1u);
    EXPECT_EQ(current.shards(1).data_endpoint(), "127.0.0.1:6001");
    EXPECT_EQ(current.shards(0).data_endpoint(), "127.0.0.1:5000");
    EXPECT_EQ(clients_[i]->membership().shards(1).data_endpoint(), "127.0.0.1:5001");
  }
  LeaveAll();
}

TEST_F(CoordinatorRestartTest, SeveralReplacementsArriveInOrderAlsoWithALateHandler) {
  Start(1, 2, Tolerant(4));
  ReplacementProbe early;
  early.Watch(clients_[0].get());
  for (int i = 0; i < 4; ++i) Replace(i % 2, 6000 + i);
  EXPECT_THAT(early.Await(4), ElementsAre(1u, 2u, 3u, 4u));
  // The last newcomer knows all that came before it, and nothing else.
  EXPECT_EQ(shard(1)->membership().shards(0).data_endpoint(), "127.0.0.1:6002");
  EXPECT_TRUE(Eventually([&] { return shard(0)->current_membership().recovery() == 4; }));
  ReplacementProbe late;
  late.Watch(shard(0).get());
  EXPECT_THAT(late.Await(1), ElementsAre(4u));
  LeaveAll();
}

TEST_F(CoordinatorRestartTest, MeetingsGoOnWithTheReplacement) {
  Start(1, 1, Tolerant(1));
  const std::vector<MemberId> everyone = EveryoneOf(clients_[0]->membership());
  std::thread worker([&] {
    const auto blobs = clients_[0]->GatherForAll("results", everyone, "w", kLong);
    ASSERT_TRUE(blobs.ok()) << blobs.status();
    EXPECT_THAT(*blobs, ElementsAre("w", "new"));
  });
  Replace(0, 6000);
  EXPECT_TRUE(shard(0)->GatherForAll("results", everyone, "new", kLong).ok());
  worker.join();
  LeaveAll();
}

TEST_F(CoordinatorRestartTest, ARecoveryThatLosesAShardEndsWithoutAVerdict) {
  Start(1, 2, Tolerant(2));
  const std::vector<MemberId> everyone = EveryoneOf(clients_[0]->membership());
  Replace(1, 6001);
  std::atomic<bool> called{false};
  std::thread worker([&] {
    called = true;
    const absl::Status first =
        clients_[0]->GatherForAll("recovery-1", everyone, "", kLong).status();
    ExpectAborted(first, {ShardId(0)}, "shard 0 was lost");
    const auto next = clients_[0]->AwaitRecovery(first, 3, 1);
    ASSERT_TRUE(next.ok()) << next.status();
    EXPECT_EQ(*next, 2u);
    EXPECT_TRUE(clients_[0]->GatherForAll("recovery-2", everyone, "", kLong).ok());
  });
  EXPECT_TRUE(Eventually([&] { return called.load(); }));
  Replace(0, 6000);
  InParallel(2, [&](int i) {
    EXPECT_TRUE(shard(i)->GatherForAll("recovery-2", everyone, "", kLong).ok());
  });
  worker.join();
  LeaveAll();
}

TEST_F(CoordinatorRestartTest, AFailureIsAnsweredWithTheRecovery) {
  Start(2, 1, Tolerant(1));
  const absl::Status broken = WithSuspects(absl::UnavailableError("link broke"), {ShardId(0)});
  std::thread suspecting([&] {
    const auto recovery = clients_[0]->AwaitRecovery(broken, 18, 0);
    ASSERT_TRUE(recovery.ok()) << recovery.status();
    EXPECT_EQ(*recovery, 1u);
  });
  Replace(0, 6000);
  suspecting.join();
  // Who comes late is told at once, and its suspicion falls on nobody.
  EXPECT_TRUE(Eventually([&] { return clients_[1]->current_membership().recovery() == 1; }));
  const auto late = clients_[1]->AwaitRecovery(broken, 18, 0);
  ASSERT_TRUE(late.ok()) << late.status();
  EXPECT_EQ(*late, 1u);
  LeaveAll();
}

TEST_F(CoordinatorRestartTest, AFailureIsAnsweredWithTheVerdictWhereThereIsNoRecovery) {
  Start(2, 1, ServerConfig());
  const absl::Status broken = WithSuspects(absl::UnavailableError("link broke"), {ShardId(0)});
  std::thread suspecting([&] {
    ExpectAborted(clients_[0]->AwaitRecovery(broken, 18, 0).status(), {ShardId(0)},
                  "shard 0 was lost at step ");
  });
  shard(0).reset();
  suspecting.join();
  const absl::Status own = absl::NotFoundError("no file");
  ExpectAborted(clients_[1]->AwaitRecovery(own, 18, 0).status(), {ShardId(0)}, "shard 0 was lost");
}

TEST_F(CoordinatorRestartTest, WithoutAReplacementInTimeThereIsAVerdict) {
  CoordinatorServer::Config config = Tolerant(1);
  config.restart_timeout = absl::Milliseconds(300);
  Start(1, 1, config);
  EXPECT_EQ(clients_[0]->membership().restart_timeout_ms(), 300);
  VerdictProbe probe;
  probe.Watch(clients_[0].get());
  shard(0).reset();
  ExpectAborted(probe.Await(), {ShardId(0)}, "; no replacement joined within 300ms");
}

TEST_F(CoordinatorRestartTest, TheLossOfAWorkerWhileAShardIsAwaitedIsAVerdict) {
  Start(2, 1, Tolerant(1));
  VerdictProbe probe;
  probe.Watch(clients_[0].get());
  shard(0).reset();
  EXPECT_TRUE(Eventually([&] { return Awaits(0); }));
  clients_[1].reset();
  ExpectAborted(probe.Await(), {WorkerId(1)}, "worker 1 was lost");
  ExpectAborted(JoinAgain(0, 6000).status(), {WorkerId(1)}, "worker 1 was lost");
}

// A stopped process: its connection is open, it says nothing.
TEST_F(CoordinatorRestartTest, ANewcomerIsHeldUntilTheSilentOneCountsAsLost) {
  workers_ = 1;
  shards_ = 1;
  server_ = StartServer(Tolerant(1, absl::Seconds(2)));
  clients_.resize(2);
  const auto stub = Coordinator::NewStub(CreateGrpcChannel(server_->endpoint()));
  Membership silent;
  std::thread worker([&] {
    clients_[0] =
        *CoordinatorClient::Join(ClientConfig(server_->endpoint()), Request(WorkerId(0), 1, 1));
  });
  {
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    ASSERT_TRUE(stub->Join(&context, Request(ShardId(0), 1, 1), &silent).ok());
  }
  worker.join();
  grpc::ClientContext context;
  const auto session = stub->Session(&context);
  Heartbeat heartbeat;
  heartbeat.mutable_caller()->set_session(silent.session());
  heartbeat.mutable_caller()->set_generation(silent.generation());
  ASSERT_TRUE(session->Write(heartbeat));
  SessionEvent event;
  ASSERT_TRUE(session->Read(&event));

  ReplacementProbe probe;
  probe.Watch(clients_[0].get());
  auto replacement = JoinAgain(0, 6000);
  ASSERT_TRUE(replacement.ok()) << replacement.status();
  clients_[1] = *std::move(replacement);
  EXPECT_THAT(probe.Await(1), ElementsAre(1u));
  // Never two: when it wakes up, the old one learns that it is out.
  ASSERT_TRUE(session->Read(&event));
  EXPECT_THAT(event.verdict().reason(), HasSubstr("no heartbeat for 1."));
  EXPECT_THAT(event.verdict().reason(), HasSubstr("another process is to take its place"));
  EXPECT_FALSE(session->Read(&event));
  session->WritesDone();
  EXPECT_TRUE(session->Finish().ok());
  FailureReport report;
  *report.mutable_caller() = heartbeat.caller();
  grpc::ClientContext report_context;
  FailureReportResponse response;
  EXPECT_EQ(stub->ReportFailure(&report_context, report, &response).error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
  LeaveAll();
}

TEST_F(CoordinatorRestartTest, ASecondProcessIsRefusedWhileTheFirstLives) {
  Start(1, 1, Tolerant(1, absl::Seconds(2)));
  const absl::Status status = JoinAgain(0, 6000).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Message(status), HasSubstr("shard 0 has already joined"));
  LeaveAll();
}

TEST_F(CoordinatorRestartTest, TheCoordinatorAnnouncesLossesAndReplacements) {
  Mutex mutex;
  std::string lines;
  CoordinatorServer::Config config = Tolerant(3);
  config.announce = [&](const std::string& line) {
    MutexLock lock(&mutex);
    lines += line + "\n";
  };
  const auto announced = [&](const std::string& text) {
    MutexLock lock(&mutex);
    return lines.find(text) != std::string::npos;
  };
  Start(1, 1, config);
  shard(0).reset();
  EXPECT_TRUE(Eventually([&] { return announced("(loss 1 of 3 that are tolerated)"); }));
  shard(0) = *JoinAgain(0, 6000);
  EXPECT_TRUE(Eventually([&] { return announced("takes the place of the one that was lost"); }));
  LeaveAll();
  server_.reset();
}

// The newcomer's place is remarked on when it joins, and everybody may leave at once.
TEST_F(CoordinatorRestartTest, AllRemarksAreAnnouncedBeforeTheEndIsKnown) {
  Mutex mutex;
  std::vector<std::string> lines;
  CoordinatorServer::Config config = Tolerant(1);
  config.announce = [&](const std::string& line) {
    MutexLock lock(&mutex);
    lines.push_back(line);
  };
  Start(1, 1, config);
  Replace(0, 6000);
  LeaveAll();
  MutexLock lock(&mutex);
  ASSERT_FALSE(lines.empty());
  EXPECT_THAT(lines.back(), HasSubstr("takes the place of the one that was lost"));
}

TEST_F(CoordinatorRestartTest, AServerThatEndsAnnouncesWhatIsLeft) {
  Mutex mutex;
  std::string lines;
  CoordinatorServer::Config config = Tolerant(1);
  config.announce = [&](const std::string& line) {
    MutexLock lock(&mutex);
    lines += line + "\n";
  };
  Start(1, 1, config);
  Replace(0, 6000);
  server_.reset();
  MutexLock lock(&mutex);
  EXPECT_THAT(lines, HasSubstr("takes the place of the one that was lost"));
}

TEST_F(CoordinatorRestartTest, AllTellEachOtherWhatTheyHave) {
  Start(2, 2, Tolerant(1));
  Replace(1, 6001);
  for (auto& client : clients_) {
    EXPECT_TRUE(Eventually([&] { return client->current_membership().recovery() == 1; }));
  }
  InParallel(4, [&](int i) {
    const auto met = MeetForRecovery(clients_[i].get(), 1, absl::StrCat("state ", i), kLong);
    ASSERT_TRUE(met.ok()) << met.status();
    EXPECT_EQ(met->membership.shards(1).data_endpoint(), "127.0.0.1:6001");
    EXPECT_THAT(met->workers, ElementsAre("state 0", "state 1"));
    EXPECT_THAT(met->shards, ElementsAre("state 2", "state 3"));
  });
  LeaveAll();
}

TEST_F(CoordinatorRestartTest, AMeetingAfterALossEndsWithTheNextLoss) {
  Start(1, 2, Tolerant(2));
  Replace(1, 6001);
  EXPECT_TRUE(Eventually([&] { return clients_[0]->current_membership().recovery() == 1; }));
  absl::Status status;
  std::thread worker(
      [&] { status = MeetForRecovery(clients_[0].get(), 1, "state 0", kLong).status(); });
  shard(0).reset();
  worker.join();
  ExpectAborted(status, {ShardId(0)}, "shard 0 was lost");
  shard(0) = *JoinAgain(0, 6002);
  LeaveAll();
}

TEST_F(CoordinatorRestartTest, NegativeNumbersAreRefused) {
  EXPECT_EQ(CoordinatorServer::Start(Tolerant(-1)).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace ringside
