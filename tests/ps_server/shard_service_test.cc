// Streams that are refused or break, seen from a worker that does not behave. Good streams:
// ps_summer_test.
#include "ps_server/shard_service.h"

#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "common/network/grpc_frame.h"
#include "common/network/grpc_status.h"
#include "common/sha256.h"
#include "ps_server/shard_epochs.h"
#include "tests/testing/ps_cluster.h"
#include "tests/testing/random_gradients.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

// A call that sends at most one message and waits for its end.
class RawCall final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  RawCall(const Endpoint& endpoint, const std::string& method, const std::string& message)
      : stub_(CreateGrpcChannel(endpoint)) {
    context_.AddMetadata(kTokenKey, Sha256Hex(absl::string_view("sesame")));
    context_.AddMetadata(kRankKey, "0");
    context_.AddMetadata(kGenerationKey, "1");
    context_.AddMetadata(kPlanKey, PlanWithBuckets({8}).hash());
    context_.AddMetadata(kRecoveryKey, "0");
    stub_.PrepareBidiStreamingCall(&context_, method, grpc::StubOptions(), this);
    StartRead(&incoming_);
    if (!message.empty()) {
      const grpc::Slice slice(message);
      outgoing_ = grpc::ByteBuffer(&slice, 1);
      StartWrite(&outgoing_);
    }
    StartCall();
  }

  void OnReadDone(bool ok) override {
    MutexLock lock(&mutex_);
    read_ = ok ? static_cast<int64_t>(incoming_.Length()) : 0;
    changed_.NotifyAll();
  }
  // Bytes of the first message; 0: the call has ended without one.
  int64_t AwaitMessage() {
    MutexLock lock(&mutex_);
    while (!read_.has_value()) changed_.Wait(&mutex_);
    return *read_;
  }

  void OnDone(const grpc::Status& status) override {
    MutexLock lock(&mutex_);
    status_ = FromGrpcStatus(status);
    done_ = true;
    changed_.NotifyAll();
  }

  absl::Status Await() {
    MutexLock lock(&mutex_);
    while (!done_) changed_.Wait(&mutex_);
    return status_;
  }

 private:
  grpc::ClientContext context_;
  grpc::GenericStub stub_;
  grpc::ByteBuffer incoming_;
  grpc::ByteBuffer outgoing_;
  Mutex mutex_;
  CondVar changed_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  absl::optional<int64_t> read_ ABSL_GUARDED_BY(mutex_);
  bool done_ ABSL_GUARDED_BY(mutex_) = false;
};

class ShardServiceTest : public ::testing::Test {
 protected:
  absl::Status Refusal(const PsSummer::Config& config) { return PsSummer::Create(config).status(); }
  static std::string Message(const absl::Status& status) { return std::string(status.message()); }

  const BucketPlan plan_ = PlanWithBuckets({8});
  PsCluster cluster_{{plan_, {2, 1, 16}}};
};

TEST_F(ShardServiceTest, RefusesAWrongToken) {
  PsSummer::Config config = cluster_.WorkerConfig(0);
  config.token = "guess";
  const absl::Status status = Refusal(config);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnauthenticated);
  EXPECT_THAT(Message(status), HasSubstr("the token is not that of its job"));
}

TEST_F(ShardServiceTest, RefusesAnotherGeneration) {
  PsSummer::Config config = cluster_.WorkerConfig(0);
  config.group.generation = 4;
  const absl::Status status = Refusal(config);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Message(status), HasSubstr("it is of generation 4, the job of 1"));
}

TEST_F(ShardServiceTest, RefusesAnotherPlan) {
  PsSummer::Config config = cluster_.WorkerConfig(0);
  config.plan = PlanWithBuckets({4, 4});
  const absl::Status status = Refusal(config);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Message(status), HasSubstr("another bucket plan"));
}

TEST_F(ShardServiceTest, RefusesARankOutsideTheJobAndOneThatIsConnected) {
  PsSummer::Config config = cluster_.WorkerConfig(0);
  config.group = Group::World(3, 2, 1);
  EXPECT_THAT(Message(Refusal(config)), HasSubstr("the ranks of the job are 0 to 1"));
  const auto first = PsSummer::Create(cluster_.WorkerConfig(1));
  ASSERT_TRUE(first.ok()) << first.status();
  const absl::Status status = Refusal(cluster_.WorkerConfig(1));
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Message(status),
              HasSubstr("shard 0 refuses worker 1: the rank is connected already"));
}

TEST_F(ShardServiceTest, HasNoOtherMethod) {
  const absl::Status status =
      RawCall(cluster_.endpoint(0), "/ringside.ParameterServer/Other", "").Await();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
}

TEST_F(ShardServiceTest, AMalformedFrameEndsTheWorkByName) {
  RawCall call(cluster_.endpoint(0), kExchangeMethod, std::string(70, 'x'));
  const absl::Status status = cluster_.executor(0).Await();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Message(status),
              HasSubstr("the stream of worker 0 broke at step 0: malformed frame"));
  EXPECT_EQ(call.Await().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ShardServiceTest, AFrameInAnothersNameEndsTheWorkByName) {
  FrameHeader header;
  header.generation = 1;
  header.sender = 1;
  header.elements = 4;
  const EncodedFrameHeader bytes = EncodeFrameHeader(header);
  RawCall call(cluster_.endpoint(0), kExchangeMethod,
               std::string(bytes.begin(), bytes.end()) + std::string(16, '\0'));
  EXPECT_THAT(Message(cluster_.executor(0).Await()),
              HasSubstr("it came on the stream of worker 0"));
  EXPECT_EQ(call.Await().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ShardServiceTest, KnowsWhoIsConnectedAndHowLongRepliesTook) {
  EXPECT_EQ(cluster_.service(0).connected_workers(), 0);
  auto summers = cluster_.ConnectAll();
  EXPECT_EQ(cluster_.service(0).connected_workers(), 2);
  std::vector<std::thread> workers;
  for (int rank = 0; rank < 2; ++rank) {
    workers.emplace_back([this, rank, summer = summers[rank].get()] {
      std::vector<float> gradients;
      for (int64_t step = 0; step < 3; ++step)
        EXPECT_TRUE(ringside::Exchange(summer, plan_, rank, step, &gradients).ok());
      EXPECT_TRUE(summer->Shutdown().ok());
    });
  }
  for (std::thread& worker : workers) worker.join();
  ASSERT_TRUE(cluster_.executor(0).Await().ok());
  // Two units in three steps; each reply is written to two workers.
  EXPECT_EQ(cluster_.service(0).replies().replies, 6);
  EXPECT_GT(cluster_.service(0).replies().time, absl::ZeroDuration());
  EXPECT_GT(cluster_.executor(0).account().serialise_time, absl::ZeroDuration());
}

// A shard that does not know its job yet, as while processes still join.
PsCluster::Options WaitingShards() {
  return {PlanWithBuckets({8}), {1, 2, 16}, absl::Seconds(30), /*serve=*/false};
}

TEST(ShardServiceParkingTest, AWorkerThatComesTooEarlyNamesTheShardsInTheEnd) {
  PsCluster cluster(WaitingShards());
  PsSummer::Config impatient = cluster.WorkerConfig(0);
  impatient.connect_timeout = absl::Milliseconds(20);
  const absl::Status status = PsSummer::Create(impatient).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("no answer from shard 0, shard 1 at 127.0.0.1:"));
}

TEST(ShardServiceParkingTest, WorkersThatComeBeforeTheShardKnowsTheJobWait) {
  PsCluster cluster(WaitingShards());
  absl::StatusOr<std::unique_ptr<PsSummer>> summer = absl::UnknownError("not yet");
  std::thread worker([&] { summer = PsSummer::Create(cluster.WorkerConfig(0)); });
  cluster.Serve();
  worker.join();
  EXPECT_TRUE(summer.ok()) << summer.status();
}

// After a loss another worker may have restored it, before this one has come.
TEST(ShardServiceParkingTest, AResultThatIsEarlierThanItsWorkerWaitsForIt) {
  const std::vector<float> values(4);
  ParameterShard::Result result;
  result.header.kind = FrameKind::kResult;
  result.header.elements = 4;
  result.values = values;
  result.owner = Arena::Create(4, Arena::Placement::kHeap).value();
  result.worker = 0;
  PsCluster cluster({PlanWithBuckets({8}), {1, 1, 16}});
  cluster.service(0).Send(result);
  RawCall call(cluster.endpoint(0), kExchangeMethod, "");
  EXPECT_EQ(call.AwaitMessage(), 64 + 16);
  cluster.executor(0).Stop(absl::AbortedError("enough"));
  EXPECT_EQ(call.Await(), absl::AbortedError("enough"));
}

// As when a loss is known before the shard is ready to serve: nobody may be left with a dead
// executor.
TEST(ShardServiceParkingTest, WorkersOfAnEpochThatIsStoppedAtOnceAreTold) {
  ShardService service(0, "sesame");
  ShardEpochs epochs;
  const auto server = StartGrpcServer(
      {"127.0.0.1", "127.0.0.1", {}},
      [&](grpc::ServerBuilder* builder) { builder->RegisterCallbackGenericService(&service); });
  ASSERT_TRUE(server.ok()) << server.status();
  epochs.Stop(absl::AbortedError("shard 1 was lost"), 1);
  RawCall early(server->endpoint, kExchangeMethod, "");
  auto shard = ParameterShard::Create({PlanWithBuckets({8}), {1, 1, 16}, 0});
  ASSERT_TRUE(shard.ok()) << shard.status();
  auto executor =
      std::make_unique<ShardExecutor>(ShardExecutor::Config{0, 1}, *std::move(shard), &service);
  service.Serve({1, 1, PlanWithBuckets({8}).hash(), 0, SharedArenas()}, executor.get());
  epochs.Begin(0, std::move(executor));
  const absl::Status why = absl::AbortedError("shard 1 was lost");
  EXPECT_EQ(epochs.Await(), why);
  EXPECT_EQ(early.Await(), why);
  RawCall late(server->endpoint, kExchangeMethod, "");
  EXPECT_EQ(late.Await(), why);
  server->server->Shutdown(std::chrono::system_clock::now());
}

}  // namespace
}  // namespace ringside
