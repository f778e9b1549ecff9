// Coordinator and clients in one process, over real gRPC on loopback.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <set>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "common/coordinator/coordinator_client.h"
#include "common/coordinator/coordinator_server.h"
#include "common/coordinator/member_list.h"
#include "common/coordinator/monotonic_clock.h"
#include "common/mutex.h"
#include "common/network/grpc_server.h"
#include "common/suspects.h"
#include "coordinator.grpc.pb.h"
#include "tests/common/coordinator/coordinator_cluster.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

const char kSessionBroke[] = "its connection to the coordinator closed";

TEST(CoordinatorClusterTest, WorkersAndShardsJoin) {
  const auto server = StartServer(ServerConfig());
  EXPECT_TRUE(server->Members().empty());
  const Clients clients = JoinAll(*server, 3, 2);
  std::set<uint64_t> sessions;
  for (const auto& client : clients) {
    const Membership& membership = client->membership();
    EXPECT_EQ(membership.generation(), 1u);
    EXPECT_EQ(membership.lease_ms(), 10000);
    ASSERT_EQ(membership.workers_size(), 3);
    ASSERT_EQ(membership.shards_size(), 2);
    EXPECT_EQ(membership.workers(2).data_endpoint(), "127.0.0.1:5002");
    EXPECT_EQ(membership.workers(2).pid(), getpid());
    EXPECT_EQ(membership.workers(0).host().boot_id(), membership.shards(1).host().boot_id());
    EXPECT_EQ(ToString(EveryoneOf(membership)), "worker 0, worker 1, worker 2, shard 0, shard 1");
    EXPECT_EQ(ToString(WorkersOf(membership)), "worker 0, worker 1, worker 2");
    EXPECT_EQ(ToString(ShardsOf(membership)), "shard 0, shard 1");
    sessions.insert(membership.session());
  }
  EXPECT_EQ(sessions.size(), 5u);
  EXPECT_EQ(server->Members().size(), 5u);
  EXPECT_FALSE(server->verdict().has_value());
}

TEST(CoordinatorClusterTest, MembersReadTheClock) {
  const auto server = StartServer(ServerConfig());
  const Clients clients = JoinAll(*server, 1, 1);
  for (const auto& client : clients) {
    const int64_t before = absl::ToUnixNanos(MonotonicNow());
    const absl::StatusOr<ClockReading> reading = client->ReadClock(8);
    ASSERT_TRUE(reading.ok()) << reading.status();
    // Both read the clock of this machine.
    EXPECT_EQ(reading->offset_ns(), 0);
    EXPECT_EQ(reading->error_ns(), 0);
    EXPECT_GT(reading->at_ns(), before);
    EXPECT_LT(reading->at_ns(), absl::ToUnixNanos(MonotonicNow()));
  }
  ASSERT_TRUE(clients[0]->Leave().ok());
  EXPECT_EQ(clients[0]->ReadClock(1).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(CoordinatorClusterTest, RefusalsNameTheCauseAndDisturbNobody) {
  CoordinatorServer::Config config = ServerConfig();
  config.token = "secret";
  config.announce_interval = absl::Milliseconds(10);
  Mutex mutex;
  std::vector<std::string> lines;
  config.announce = [&](const std::string& line) {
    MutexLock lock(&mutex);
    lines.push_back(line);
  };
  const auto announced = [&](const std::string& text) {
    MutexLock lock(&mutex);
    return absl::StrContains(absl::StrJoin(lines, "\n"), text);
  };
  const auto server = StartServer(config);
  EXPECT_TRUE(Eventually([&] { return announced("have nobody"); }));
  const auto request = [](int rank, const std::string& rate) {
    JoinRequest request = Request(WorkerId(rank), 2);
    request.set_token("secret");
    (*request.mutable_settings())["learning_rate"] = rate;
    return request;
  };
  const auto refusal = [&](const JoinRequest& request) {
    return CoordinatorClient::Join(ClientConfig(server->endpoint()), request).status();
  };
  std::thread first([&] {
    const auto client =
        CoordinatorClient::Join(ClientConfig(server->endpoint()), request(0, "0.1"));
    ASSERT_TRUE(client.ok()) << client.status();
    EXPECT_EQ((*client)->membership().settings().at("learning_rate"), "0.1");
    EXPECT_TRUE((*client)->Leave().ok());
  });
  EXPECT_TRUE(Eventually([&] { return announced("have worker 0; missing worker 1"); }));

  EXPECT_EQ(
      refusal(request(1, "0.2")),
      absl::FailedPreconditionError("worker 1 has learning_rate=0.2, worker 0 joined with 0.1"));
  const absl::Status duplicate = refusal(request(0, "0.1"));
  EXPECT_EQ(duplicate.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Message(duplicate), StartsWith("duplicate rank: worker 0 has already joined"));
  JoinRequest stranger = request(1, "0.1");
  stranger.set_token("guess");
  EXPECT_EQ(refusal(stranger).code(), absl::StatusCode::kPermissionDenied);
  JoinRequest other_size = request(1, "0.1");
  other_size.set_world_size(3);
  EXPECT_EQ(refusal(other_size),
            absl::FailedPreconditionError("worker 1 expects 3 workers, worker 0 joined with 2"));
  EXPECT_EQ(refusal(request(2, "0.1")).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(Eventually([&] {
    return announced("refused: worker 1 has learning_rate=0.2, worker 0 joined with 0.1");
  }));

  const auto second = CoordinatorClient::Join(ClientConfig(server->endpoint()), request(1, "0.1"));
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_THAT(Message(refusal(request(1, "0.1"))), StartsWith("the job is complete: worker 1"));
  EXPECT_TRUE((*second)->Leave().ok());
  first.join();
  EXPECT_TRUE(server->AwaitEnd(kLong));
  EXPECT_FALSE(server->verdict().has_value());
}

TEST(CoordinatorClusterTest, TheSlotOfAJoinerThatDiedIsFree) {
  const auto server = StartServer(ServerConfig());
  const auto stub = Coordinator::NewStub(CreateGrpcChannel(server->endpoint()));
  const auto join = [&stub](int rank, absl::Duration patience) {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + patience));
    Membership membership;
    return stub->Join(&context, Request(WorkerId(rank), 2), &membership).error_code();
  };
  // Gives up long before the server would.
  EXPECT_EQ(join(0, absl::Milliseconds(200)), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_TRUE(Eventually([&] {
    return join(0, absl::Milliseconds(200)) == grpc::StatusCode::DEADLINE_EXCEEDED;
  })) << "still taken for a duplicate";
}

TEST(CoordinatorClusterTest, JoinTimeoutNamesWhoIsMissing) {
  const auto server = StartServer(ServerConfig());
  const absl::Status status =
      CoordinatorClient::Join(ClientConfig(server->endpoint(), absl::Milliseconds(300)),
                              Request(WorkerId(1), 3, 1))
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(Message(status),
            "worker 1 waited in vain for the others to join: have worker 1; missing worker 0, "
            "worker 2, shard 0");
  EXPECT_TRUE(SameMembers(SuspectsOf(status), {WorkerId(0), WorkerId(2), ShardId(0)}));
}

TEST(CoordinatorClusterTest, ACoordinatorThatCannotBeReachedIsNamed) {
  const Endpoint endpoint = StartServer(ServerConfig())->endpoint();  // ended at once
  const absl::Status status =
      CoordinatorClient::Join(ClientConfig(endpoint, absl::Milliseconds(300)),
                              Request(WorkerId(0), 1))
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(Message(status), StartsWith(absl::StrCat("cannot reach the coordinator at ",
                                                       ToString(endpoint), " within 300ms: ")));
  EXPECT_THAT(Message(status), HasSubstr("Connection refused"));
}

TEST(CoordinatorClusterTest, SomethingElseAtTheAddressIsNoCoordinator) {
  class Nothing final : public Coordinator::Service {
  } nothing;
  auto other = StartGrpcServer(
      Loopback(), [&nothing](grpc::ServerBuilder* builder) { builder->RegisterService(&nothing); });
  ASSERT_TRUE(other.ok()) << other.status();
  const absl::Status status =
      CoordinatorClient::Join(ClientConfig(other->endpoint), Request(WorkerId(0), 1)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Message(status), HasSubstr("is not a coordinator"));
}

TEST(CoordinatorClusterTest, AJoinerWaitsForTheCoordinatorToStart) {
  CoordinatorServer::Config config = ServerConfig();
  config.bind = Loopback(StartServer(config)->endpoint().port);
  std::thread early([&] {
    const auto client = CoordinatorClient::Join(
        ClientConfig(Endpoint{"127.0.0.1", config.bind.ports.first}), Request(WorkerId(0), 1));
    ASSERT_TRUE(client.ok()) << client.status();
    EXPECT_TRUE((*client)->Leave().ok());
  });
  const auto server = StartServer(config);
  EXPECT_TRUE(server->AwaitEnd(kLong));
  early.join();
}

TEST(CoordinatorClusterTest, MeetingsWork) {
  const auto server = StartServer(ServerConfig());
  const Clients clients = JoinAll(*server, 3, 1);
  const std::vector<MemberId> workers = WorkersOf(clients[0]->membership());
  const std::vector<MemberId> everyone = EveryoneOf(clients[0]->membership());
  InParallel(4, [&](int i) {
    CoordinatorClient& client = *clients[i];
    EXPECT_TRUE(client.Barrier("start", everyone, kLong).ok());
    if (i < 3) {
      const double values[] = {1e100, 1, -1e100};
      const auto sums = client.Reduce("sum", workers, {{i + 1, 10}, {values[i]}}, kLong);
      ASSERT_TRUE(sums.ok()) << sums.status();
      EXPECT_THAT(sums->integers, ElementsAre(6, 30));
      EXPECT_THAT(sums->doubles, ElementsAre(0.0));
    }
    const auto blobs = client.Gather("results", everyone, absl::StrCat("blob", i), kLong);
    ASSERT_TRUE(blobs.ok()) << blobs.status();
    if (i == 0) {
      EXPECT_THAT(*blobs, ElementsAre("blob0", "blob1", "blob2", "blob3"));
    } else {
      EXPECT_THAT(*blobs, IsEmpty());
    }
    const auto all = client.GatherForAll("ids", everyone, absl::StrCat("id", i), kLong);
    ASSERT_TRUE(all.ok()) << all.status();
    EXPECT_THAT(*all, ElementsAre("id0", "id1", "id2", "id3"));
    EXPECT_EQ(client.Barrier("start", everyone, kLong).code(), absl::StatusCode::kInvalidArgument);
    EXPECT_TRUE(client.Leave().ok());
  });
  EXPECT_TRUE(server->AwaitEnd(kLong));
}

TEST(CoordinatorClusterTest, GatherTakesLargeBlobs) {
  const auto server = StartServer(ServerConfig());
  const Clients clients = JoinAll(*server, 2);
  const std::vector<MemberId> workers = WorkersOf(clients[0]->membership());
  InParallel(2, [&](int i) {
    const auto blobs = clients[i]->Gather("big", workers, std::string(8 << 20, 'a' + i), kLong);
    ASSERT_TRUE(blobs.ok()) << blobs.status();
    if (i == 0) {
      EXPECT_EQ(blobs->at(1), std::string(8 << 20, 'b'));
    }
  });
}

TEST(CoordinatorClusterTest, ABarrierThatTimesOutNamesWhoIsMissing) {
  const auto server = StartServer(ServerConfig());
  const Clients clients = JoinAll(*server, 2, 1);
  const absl::Status status =
      clients[0]->Barrier("b", EveryoneOf(clients[0]->membership()), absl::Milliseconds(100));
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(Message(status), "barrier \"b\": worker 0 waited 100ms for worker 1, shard 0");
  EXPECT_TRUE(SameMembers(SuspectsOf(status), {WorkerId(1), ShardId(0)}));
}

TEST(CoordinatorClusterTest, ProgressReachesTheCoordinator) {
  const auto server = StartServer(ServerConfig(absl::Seconds(2)));
  const Clients clients = JoinAll(*server, 1);
  Progress progress;
  progress.set_step(7);
  progress.set_phase("train");
  clients[0]->ReportProgress(progress);
  EXPECT_TRUE(Eventually([&] { return server->Members()[0].progress.step() == 7; }));
  EXPECT_EQ(server->Members()[0].progress.phase(), "train");
  EXPECT_FALSE(server->Members()[0].left);
}

TEST(CoordinatorClusterTest, AClientThatVanishesIsNamedToAllOthers) {
  const auto server = StartServer(ServerConfig());
  Clients clients = JoinAll(*server, 3, 1);
  VerdictProbe probes[4];
  for (int i : {0, 1, 3}) probes[i].Watch(clients[i].get());
  std::thread waiting([&] {
    ExpectAborted(clients[0]->Barrier("b", EveryoneOf(clients[0]->membership()), kLong),
                  {WorkerId(2)}, "worker 2 was lost at step 0");
  });
  clients[2].reset();
  for (int i : {0, 1, 3}) ExpectAborted(probes[i].Await(), {WorkerId(2)}, kSessionBroke);
  waiting.join();
  // Calls after the verdict return it, and so does a handler that comes late.
  ExpectAborted(clients[1]->Barrier("c", {WorkerId(1)}, kLong), {WorkerId(2)}, kSessionBroke);
  ExpectAborted(clients[1]->ResolveFailure(absl::InternalError("x"), 3), {WorkerId(2)},
                kSessionBroke);
  VerdictProbe late;
  late.Watch(clients[1].get());
  ExpectAborted(late.Await(), {WorkerId(2)}, kSessionBroke);
  ASSERT_TRUE(server->verdict().has_value());
  EXPECT_TRUE(SameMember(server->verdict()->culprit(), WorkerId(2)));
  EXPECT_FALSE(server->AwaitEnd(absl::ZeroDuration()));
  ExpectAborted(clients[0]->Leave(), {WorkerId(2)}, kSessionBroke);
  clients.clear();
  EXPECT_TRUE(server->AwaitEnd(kLong));
}

// Join returns when the session is open, so that no end of a process goes unnoticed until it counts
// as silent.
TEST(CoordinatorClusterTest, AClientThatVanishesRightAfterJoiningIsNoticedAtOnce) {
  for (int attempt = 0; attempt < 10; ++attempt) {
    const auto server = StartServer(ServerConfig(absl::Hours(1)));
    Clients clients = JoinAll(*server, 1);
    clients.clear();
    EXPECT_TRUE(Eventually([&] { return server->verdict().has_value(); }));
  }
}

// A member whose process is alive but says nothing.
class SilentMember {
 public:
  SilentMember(const Endpoint& coordinator, int rank, int workers)
      : stub_(Coordinator::NewStub(CreateGrpcChannel(coordinator))) {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + kLong));
    context.set_wait_for_ready(true);
    const grpc::Status joined =
        stub_->Join(&context, Request(WorkerId(rank), workers), &membership_);
    EXPECT_TRUE(joined.ok()) << joined.error_message();
  }
  void SendOneHeartbeat(int64_t step) {
    session_ = stub_->Session(&context_);
    Heartbeat heartbeat;
    heartbeat.mutable_caller()->set_session(membership_.session());
    heartbeat.mutable_caller()->set_generation(membership_.generation());
    heartbeat.mutable_progress()->set_step(step);
    EXPECT_TRUE(session_->Write(heartbeat));
    SessionEvent event;
    EXPECT_TRUE(session_->Read(&event));
    EXPECT_FALSE(event.has_verdict());
  }
  ~SilentMember() {
    if (session_ == nullptr) return;
    context_.TryCancel();
    session_->Finish().IgnoreError();
  }

 private:
  std::unique_ptr<Coordinator::Stub> stub_;
  Membership membership_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<Heartbeat, SessionEvent>> session_;
};

TEST(CoordinatorClusterTest, ASilentMemberIsNamedWithinTheLease) {
  const absl::Duration lease = absl::Seconds(5);
  const auto server = StartServer(ServerConfig(lease));
  VerdictProbe probe;
  std::unique_ptr<CoordinatorClient> client;
  std::thread joining([&] {
    client = *CoordinatorClient::Join(ClientConfig(server->endpoint()), Request(WorkerId(0), 2));
    probe.Watch(client.get());
  });
  SilentMember silent(server->endpoint(), 1, 2);
  joining.join();
  silent.SendOneHeartbeat(17);
  const absl::Time last_sign_of_life = absl::Now();
  ExpectAborted(probe.Await(), {WorkerId(1)}, "worker 1 was lost at step 17: no heartbeat for ");
  EXPECT_LT(probe.when() - last_sign_of_life, lease);
  EXPECT_GT(probe.when() - last_sign_of_life, 0.6 * lease);
}

TEST(CoordinatorClusterTest, AMemberThatNeverOpensItsSessionIsNamedWithinTheLease) {
  const absl::Duration lease = absl::Seconds(1);
  const auto server = StartServer(ServerConfig(lease));
  VerdictProbe probe;
  std::unique_ptr<CoordinatorClient> client;
  std::thread joining([&] {
    client = *CoordinatorClient::Join(ClientConfig(server->endpoint()), Request(WorkerId(0), 2));
    probe.Watch(client.get());
  });
  SilentMember silent(server->endpoint(), 1, 2);
  joining.join();
  ExpectAborted(probe.Await(), {WorkerId(1)}, "worker 1 was lost at step 0: no heartbeat for ");
}

TEST(CoordinatorClusterTest, AnExitSeenByTheLauncherIsAVerdict) {
  const auto server = StartServer(ServerConfig());
  const Clients clients = JoinAll(*server, 2);
  VerdictProbe probe;
  probe.Watch(clients[0].get());
  server->ReportExit(WorkerId(1), "killed by signal 9 (Killed)");
  ExpectAborted(probe.Await(), {WorkerId(1)},
                "worker 1 was lost at step 0: killed by signal 9 (Killed)");
}

TEST(CoordinatorClusterTest, AnExitBeforeAllHaveJoinedEndsTheWait) {
  const auto server = StartServer(ServerConfig());
  std::thread joining([&] {
    ExpectAborted(
        CoordinatorClient::Join(ClientConfig(server->endpoint()), Request(WorkerId(0), 2)).status(),
        {WorkerId(1)}, "worker 1 was lost before all had joined: exited with status 2");
  });
  server->ReportExit(WorkerId(1), "exited with status 2");
  joining.join();
  EXPECT_TRUE(server->AwaitEnd(kLong));
}

TEST(CoordinatorClusterTest, AnOwnFailureKeepsItsCodeAndIsNamedToTheOthers) {
  const auto server = StartServer(ServerConfig());
  const Clients clients = JoinAll(*server, 2);
  VerdictProbe probe;
  probe.Watch(clients[0].get());
  const absl::Status failure = absl::NotFoundError("no file\ndata/x.gz");
  EXPECT_EQ(clients[1]->ResolveFailure(failure, 3), failure);
  ExpectAborted(probe.Await(), {WorkerId(1)}, "worker 1 failed at step 3: no file data/x.gz");
  EXPECT_TRUE(clients[0]->ResolveFailure(absl::OkStatus(), 3).ok());
}

TEST(CoordinatorClusterTest, ASuspicionIsResolvedByThePrimaryCause) {
  const auto server = StartServer(ServerConfig());
  Clients clients = JoinAll(*server, 3);
  const auto suspect = [&clients](int who, int whom) {
    return clients[who]->ResolveFailure(
        WithSuspects(absl::UnavailableError("link broke"), {WorkerId(whom)}), 18);
  };
  // Worker 0 suspects a victim, worker 1 the cause; the cause vanishes only then.
  std::thread victim([&] { ExpectAborted(suspect(0, 1), {WorkerId(2)}, kSessionBroke); });
  std::thread neighbour(
      [&] { ExpectAborted(suspect(1, 2), {WorkerId(2)}, "worker 2 was lost at step "); });
  clients[2].reset();
  victim.join();
  neighbour.join();
}

TEST(CoordinatorClusterTest, ASuspicionAloneIsAVerdictWithinTheLease) {
  const absl::Duration lease = absl::Seconds(5);
  const auto server = StartServer(ServerConfig(lease));
  const Clients clients = JoinAll(*server, 2);
  const absl::Time start = absl::Now();
  ExpectAborted(clients[0]->ResolveFailure(
                    WithSuspects(absl::UnavailableError("link broke"), {WorkerId(1)}), 18),
                {WorkerId(1)}, "worker 1 was lost at step 18: link broke (reported by worker 0)");
  EXPECT_LT(absl::Now() - start, lease);
}

TEST(CoordinatorClusterTest, ALostCoordinatorIsAVerdict) {
  auto server = StartServer(ServerConfig());
  const std::string address = ToString(server->endpoint());
  const Clients clients = JoinAll(*server, 2);
  VerdictProbe probe;
  probe.Watch(clients[0].get());
  std::atomic<bool> called{false};
  std::thread waiting([&] {
    called = true;
    ExpectAborted(clients[1]->Barrier("b", WorkersOf(clients[1]->membership()), kLong), {},
                  absl::StrCat("the coordinator at ", address, " was lost: "));
  });
  EXPECT_TRUE(Eventually([&] { return called.load(); }));
  server.reset();
  ExpectAborted(probe.Await(), {}, absl::StrCat("the coordinator at ", address, " was lost: "));
  waiting.join();
  ExpectAborted(clients[0]->ResolveFailure(absl::InternalError("x"), 1), {}, "was lost");
}

// Lets all join, answers one heartbeat and then says no more.
class MuteCoordinator final : public Coordinator::Service {
  grpc::Status Join(grpc::ServerContext* /*context*/, const JoinRequest* request,
                    Membership* response) override {
    response->set_generation(1);
    response->set_session(1);
    response->set_lease_ms(500);
    *response->add_workers() = request->member();
    return grpc::Status::OK;
  }
  grpc::Status Session(grpc::ServerContext* /*context*/,
                       grpc::ServerReaderWriter<SessionEvent, Heartbeat>* stream) override {
    Heartbeat heartbeat;
    stream->Read(&heartbeat);
    stream->Write(SessionEvent());
    while (stream->Read(&heartbeat)) {
    }
    return grpc::Status::OK;
  }
};

TEST(CoordinatorClusterTest, AMuteCoordinatorIsLostWithinTheLease) {
  MuteCoordinator mute;
  auto server = StartGrpcServer(
      Loopback(), [&mute](grpc::ServerBuilder* builder) { builder->RegisterService(&mute); });
  ASSERT_TRUE(server.ok()) << server.status();
  const auto client =
      CoordinatorClient::Join(ClientConfig(server->endpoint), Request(WorkerId(0), 1));
  ASSERT_TRUE(client.ok()) << client.status();
  VerdictProbe probe;
  probe.Watch(client->get());
  ExpectAborted(probe.Await(), {}, "was lost: no answer for 0.");
}

TEST(CoordinatorClusterTest, TheServerEndsWithCallsParked) {
  auto server = StartServer(ServerConfig());
  Clients clients = JoinAll(*server, 2);
  const auto stub = Coordinator::NewStub(CreateGrpcChannel(server->endpoint()));
  grpc::ClientContext unopened;
  const auto session = stub->Session(&unopened);  // no heartbeat ever
  std::thread meeting([&] {
    EXPECT_FALSE(clients[0]->Barrier("b", WorkersOf(clients[0]->membership()), kLong).ok());
  });
  const absl::Time start = absl::Now();
  server.reset();
  EXPECT_LT(absl::Now() - start, absl::Seconds(10));
  meeting.join();
  EXPECT_FALSE(session->Finish().ok());
}

TEST(CoordinatorClusterTest, TheServerEndsWithJoinersWaiting) {
  CoordinatorServer::Config config = ServerConfig();
  config.announce_interval = absl::Milliseconds(10);
  std::atomic<bool> joined{false};
  config.announce = [&joined](const std::string& line) {
    if (absl::StrContains(line, "have worker 0")) joined = true;
  };
  auto server = StartServer(config);
  const Endpoint endpoint = server->endpoint();
  std::thread joining([&] {
    // Tries again until its time is over: another coordinator may take the place.
    const absl::Status status =
        CoordinatorClient::Join(ClientConfig(endpoint, absl::Seconds(2)), Request(WorkerId(0), 2))
            .status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
    EXPECT_THAT(Message(status), HasSubstr(ToString(endpoint)));
  });
  EXPECT_TRUE(Eventually([&] { return joined.load(); }));
  server.reset();
  joining.join();
}

TEST(CoordinatorClusterTest, LeavingEndsTheJobInGoodOrder) {
  auto server = StartServer(ServerConfig());
  const Clients clients = JoinAll(*server, 2);
  VerdictProbe probe;
  probe.Watch(clients[0].get());
  EXPECT_TRUE(clients[1]->Leave().ok());
  EXPECT_TRUE(server->Members()[1].left);
  EXPECT_FALSE(server->AwaitEnd(absl::Milliseconds(1)));
  // Nobody waits for a member that has left.
  EXPECT_EQ(clients[0]->Barrier("b", WorkersOf(clients[0]->membership()), kLong),
            absl::FailedPreconditionError("barrier \"b\": worker 1 has left the job"));
  EXPECT_EQ(clients[1]->Barrier("b", WorkersOf(clients[1]->membership()), kLong).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(clients[1]->Leave().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(clients[0]->Leave().ok());
  EXPECT_TRUE(server->AwaitEnd(kLong));
  EXPECT_FALSE(server->verdict().has_value());
  server.reset();
  // The coordinator's end is no loss to those who have left: ending them brings no verdict.
  clients[0]->SetVerdictHandler(nullptr);
}

TEST(CoordinatorClusterTest, AnImpostorIsTurnedAway) {
  const auto server = StartServer(ServerConfig());
  const Clients clients = JoinAll(*server, 1);
  const auto stub = Coordinator::NewStub(CreateGrpcChannel(server->endpoint()));
  FailureReport report;
  report.mutable_caller()->set_session(clients[0]->membership().session() + 1);
  report.mutable_caller()->set_generation(1);
  grpc::ClientContext report_context;
  FailureReportResponse response;
  EXPECT_EQ(stub->ReportFailure(&report_context, report, &response).error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
  grpc::ClientContext session_context;
  const auto session = stub->Session(&session_context);
  Heartbeat heartbeat;
  *heartbeat.mutable_caller() = report.caller();
  session->Write(heartbeat);
  SessionEvent event;
  EXPECT_FALSE(session->Read(&event));
  EXPECT_EQ(session->Finish().error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_TRUE(clients[0]->Barrier("b", {WorkerId(0)}, kLong).ok());
  EXPECT_FALSE(server->verdict().has_value());
}

TEST(CoordinatorClusterTest, APortThatIsTakenIsAnError) {
  const auto server = StartServer(ServerConfig());
  CoordinatorServer::Config config = ServerConfig();
  config.bind = Loopback(server->endpoint().port);
  EXPECT_EQ(CoordinatorServer::Start(config).status().code(), absl::StatusCode::kUnavailable);
  config.lease = absl::ZeroDuration();
  EXPECT_EQ(CoordinatorServer::Start(config).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace ringside
