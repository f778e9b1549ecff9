// Who is admitted to a ring over gRPC, and what those hear who are not.
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "allreduce/grpc_ring_link.h"
#include "common/network/grpc_server.h"
#include "common/suspects.h"
#include "tests/allreduce/grpc_ring_cluster.h"

namespace ringside {
namespace {

using testing::HasSubstr;

std::string Message(const GrpcLink& link) { return link.status().ToString(); }

// Rank 0 of 2 differs from the other. Both must see why, whoever comes first.
void ExpectRefusedByBoth(const std::function<void(GrpcRingLink::Config*)>& spoil,
                         absl::StatusCode code, const std::string& at_rank_0,
                         const std::string& at_rank_1) {
  const auto links = ConnectGrpcRing(2, [&](int rank, GrpcRingLink::Config* config) {
    if (rank == 0) spoil(config);
  });
  EXPECT_EQ(links[0].status().code(), code) << links[0].status();
  EXPECT_EQ(links[1].status().code(), code) << links[1].status();
  EXPECT_THAT(Message(links[0]), HasSubstr(at_rank_0));
  EXPECT_THAT(Message(links[1]), HasSubstr(at_rank_1));
}

TEST(GrpcRingHandshakeTest, WrongTokenIsRefused) {
  ExpectRefusedByBoth([](GrpcRingLink::Config* config) { config->token = "guess"; },
                      absl::StatusCode::kPermissionDenied,
                      "worker 1 at 127.0.0.1:", "has another token");
}

TEST(GrpcRingHandshakeTest, WrongGenerationIsRefused) {
  ExpectRefusedByBoth([](GrpcRingLink::Config* config) { config->group.generation = 2; },
                      absl::StatusCode::kFailedPrecondition,
                      "is in generation 3, this process in generation 2",
                      "is in generation 2, this process in generation 3");
}

TEST(GrpcRingHandshakeTest, WrongGroupIsRefused) {
  ExpectRefusedByBoth([](GrpcRingLink::Config* config) { config->group.id = 9; },
                      absl::StatusCode::kFailedPrecondition,
                      "is in group 0, this process in group 9",
                      "is in group 9, this process in group 0");
}

TEST(GrpcRingHandshakeTest, WrongPlanIsRefused) {
  ExpectRefusedByBoth([](GrpcRingLink::Config* config) { config->plan_hash = "other"; },
                      absl::StatusCode::kFailedPrecondition, "has bucket plan ",
                      "has bucket plan ");
}

TEST(GrpcRingHandshakeTest, WrongWiringIsRefused) {
  auto links = ConnectGrpcRing(3, [&](int rank, GrpcRingLink::Config* config) {
    config->connect_timeout = absl::Seconds(3);
    if (rank == 0)
      config->group.members = {0, 2, 1};  // believes that worker 2 is its right neighbour
  });
  EXPECT_TRUE(absl::IsFailedPrecondition(links[0].status())) << links[0].status();
  EXPECT_THAT(
      Message(links[0]),
      HasSubstr("is worker 1 and means worker 0; this process is worker 0 and means worker 2"));
}

// A caller with another token and one that is no ring at all, before the neighbours come.
TEST(GrpcRingHandshakeTest, StrangersDoNotSpoilTheRing) {
  std::unique_ptr<GrpcRingListener> other_listener = *GrpcRingListener::Open(LoopbackBind());
  GrpcLink stranger;
  std::thread thread;
  auto links = ConnectGrpcRing(2, [&](int rank, GrpcRingLink::Config* config) {
    if (rank != 0) return;
    GrpcRingLink::Config other = MakeConfig(2, 0, config->right);
    other.token = "guess";
    thread = std::thread(
        [&, other] { stranger = GrpcRingLink::Connect(std::move(other_listener), other); });
    // Until it has been parked or answered, the ring cannot have been spoiled by it.
    grpc::GenericStub stub(CreateGrpcChannel(config->right));
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    auto call =
        stub.PrepareUnaryCall(&context, "/ringside.Nobody/Hears", grpc::ByteBuffer(), &queue);
    grpc::ByteBuffer response;
    grpc::Status status;
    call->StartCall();
    call->Finish(&response, &status, &context);
    void* tag = nullptr;
    bool ok = false;
    ASSERT_TRUE(queue.Next(&tag, &ok));
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED) << status.error_message();
  });
  thread.join();
  for (const auto& link : links) EXPECT_TRUE(link.ok()) << link.status();
  EXPECT_FALSE(stranger.ok());
}

TEST(GrpcRingHandshakeTest, ASecondLeftNeighbourIsRefused) {
  Endpoint taken;
  auto links = ConnectGrpcRing(2, [&](int rank, GrpcRingLink::Config* config) {
    if (rank == 0) taken = config->right;
  });
  ASSERT_TRUE(links[0].ok() && links[1].ok());
  const GrpcLink second =
      GrpcRingLink::Connect(*GrpcRingListener::Open(LoopbackBind()), MakeConfig(2, 0, taken));
  EXPECT_TRUE(absl::IsFailedPrecondition(second.status())) << second.status();
  EXPECT_THAT(Message(second), HasSubstr("is connected already"));
}

TEST(GrpcRingHandshakeTest, AbsentLeftNeighbourIsNamed) {
  auto listener = GrpcRingListener::Open(LoopbackBind());
  auto right = GrpcRingListener::Open(LoopbackBind());  // takes the call, says nothing
  ASSERT_TRUE(listener.ok() && right.ok());
  GrpcRingLink::Config config = MakeConfig(3, 0, (*right)->endpoint());
  config.connect_timeout = absl::Milliseconds(200);
  const GrpcLink link = GrpcRingLink::Connect(*std::move(listener), config);
  EXPECT_TRUE(absl::IsDeadlineExceeded(link.status())) << link.status();
  EXPECT_THAT(Message(link), HasSubstr("worker 2 has not connected and worker 1 at 127.0.0.1:"));
  EXPECT_EQ(ToString(SuspectsOf(link.status())), "worker 2, worker 1");
}

TEST(GrpcRingHandshakeTest, AbsentRightNeighbourIsNamed) {
  auto listener = GrpcRingListener::Open(LoopbackBind());
  auto gone = GrpcRingListener::Open(LoopbackBind());
  ASSERT_TRUE(listener.ok() && gone.ok());
  const GrpcRingLink::Config config = MakeConfig(2, 0, (*gone)->endpoint());
  gone->reset();
  const GrpcLink link = GrpcRingLink::Connect(*std::move(listener), config);
  EXPECT_TRUE(absl::IsUnavailable(link.status())) << link.status();
  EXPECT_THAT(Message(link), HasSubstr("worker 1 at 127.0.0.1:"));
  EXPECT_EQ(ToString(SuspectsOf(link.status())), "worker 1");
}

TEST(GrpcRingHandshakeTest, NeedsAtLeastTwo) {
  EXPECT_TRUE(absl::IsInvalidArgument(
      GrpcRingLink::Connect(*GrpcRingListener::Open(LoopbackBind()), MakeConfig(1, 0, {}))
          .status()));
}

TEST(GrpcRingHandshakeTest, ListenerNamesATakenPort) {
  const auto first = GrpcRingListener::Open(LoopbackBind());
  ASSERT_TRUE(first.ok());
  BindAddress taken = LoopbackBind();
  taken.ports = {(*first)->endpoint().port, (*first)->endpoint().port};
  const auto second = GrpcRingListener::Open(taken);
  EXPECT_TRUE(absl::IsUnavailable(second.status())) << second.status();
}

}  // namespace
}  // namespace ringside
