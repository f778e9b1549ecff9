// Followers that are admitted, refused or give up, over real gRPC.
#include "ps_server/election_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/network/grpc_frame.h"
#include "common/network/grpc_server.h"
#include "common/network/grpc_status.h"
#include "common/sha256.h"
#include "common/suspects.h"
#include "ps_server/election_follower.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kToken[] = "sesame";

// Counts the followers that have reached the service.
class Door final : public ShardElections::CallbackService {
 public:
  explicit Door(ElectionService* service) : service_(service) {}

  grpc::ServerWriteReactor<StepElection>* Follow(grpc::CallbackServerContext* context,
                                                 const FollowRequest* request) override {
    auto* reactor = service_->Follow(context, request);
    MutexLock lock(&mutex_);
    ++followers_;
    changed_.NotifyAll();
    return reactor;
  }
  void Await(int followers) {
    MutexLock lock(&mutex_);
    while (followers_ < followers) changed_.Wait(&mutex_);
  }

 private:
  ElectionService* const service_;
  Mutex mutex_;
  CondVar changed_;
  int followers_ ABSL_GUARDED_BY(mutex_) = 0;
};

// A follower as the wire has it.
class RawFollower final : public grpc::ClientReadReactor<StepElection> {
 public:
  RawFollower(const Endpoint& endpoint, uint32_t generation, uint32_t recovery,
              const std::string& token = kToken)
      : stub_(ShardElections::NewStub(CreateGrpcChannel(endpoint))) {
    context_.AddMetadata(kTokenKey, Sha256Hex(absl::string_view(token)));
    request_.set_shard(1);
    request_.set_generation(generation);
    request_.set_recovery(recovery);
    stub_->async()->Follow(&context_, &request_, this);
    StartRead(&incoming_);
    StartCall();
  }
  ~RawFollower() override {
    Cancel();
    (void)Await();
  }

  void Cancel() { context_.TryCancel(); }
  absl::Status Await() {
    MutexLock lock(&mutex_);
    while (!done_) changed_.Wait(&mutex_);
    return status_;
  }
  // The steps of the first `count` elections.
  std::vector<uint64_t> AwaitSteps(size_t count) {
    MutexLock lock(&mutex_);
    while (steps_.size() < count && !done_) changed_.Wait(&mutex_);
    return steps_;
  }

  void OnReadDone(bool ok) override {
    if (!ok) return;
    {
      MutexLock lock(&mutex_);
      steps_.push_back(incoming_.step());
      changed_.NotifyAll();
    }
    StartRead(&incoming_);
  }
  void OnDone(const grpc::Status& status) override {
    MutexLock lock(&mutex_);
    status_ = FromGrpcStatus(status);
    done_ = true;
    changed_.NotifyAll();
  }

 private:
  const std::unique_ptr<ShardElections::Stub> stub_;
  grpc::ClientContext context_;
  FollowRequest request_;
  StepElection incoming_;

  Mutex mutex_;
  CondVar changed_;
  std::vector<uint64_t> steps_ ABSL_GUARDED_BY(mutex_);
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  bool done_ ABSL_GUARDED_BY(mutex_) = false;
};

class ElectionServiceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto started =
        StartGrpcServer({"127.0.0.1", "127.0.0.1", {}},
                        [this](grpc::ServerBuilder* builder) { builder->RegisterService(&door_); });
    ASSERT_TRUE(started.ok()) << started.status();
    server_ = std::move(started).value();
  }
  void TearDown() override {
    server_.server->Shutdown(std::chrono::system_clock::now());
    server_.server.reset();
  }
  std::unique_ptr<RawFollower> Follow(uint32_t generation, uint32_t recovery) {
    auto follower = std::make_unique<RawFollower>(server_.endpoint, generation, recovery);
    door_.Await(++followers_);
    return follower;
  }

  ElectionService service_{kToken};
  Door door_{&service_};
  GrpcServer server_;
  int followers_ = 0;
};

TEST_F(ElectionServiceTest, TellsTheLastElectionAndAllLaterOnes) {
  const auto early = Follow(1, 0);
  service_.Serve(1, 0);
  service_.Announce({1, {0, 2}});
  service_.Announce({2, {1, 2}});
  EXPECT_THAT(early->AwaitSteps(2), ElementsAre(1u, 2u));
  const auto late = Follow(1, 0);
  EXPECT_THAT(late->AwaitSteps(1), ElementsAre(2u));
  service_.Announce({3, {0, 1}});
  service_.End();
  EXPECT_TRUE(early->Await().ok());
  EXPECT_TRUE(late->Await().ok());
  EXPECT_THAT(early->AwaitSteps(3), ElementsAre(1u, 2u, 3u));
  EXPECT_THAT(late->AwaitSteps(2), ElementsAre(2u, 3u));
  EXPECT_TRUE(Follow(1, 0)->Await().ok());  // nobody follows any more
}

TEST_F(ElectionServiceTest, RefusesAWrongToken) {
  RawFollower stranger(server_.endpoint, 1, 0, "guess");
  EXPECT_EQ(stranger.Await().code(), absl::StatusCode::kUnauthenticated);
}

// Whether the service has heard of it or not.
TEST_F(ElectionServiceTest, AFollowerThatGaveUpBeforeServeIsLeftAlone) {
  for (uint32_t recovery = 0; recovery < 50; ++recovery) {
    const auto impatient = Follow(1, recovery);
    const auto patient = Follow(1, recovery);
    impatient->Cancel();
    if (recovery % 2 == 0) {
      EXPECT_EQ(impatient->Await().code(), absl::StatusCode::kCancelled);
    }
    service_.Serve(1, recovery);
    service_.Announce({recovery, {0}});
    EXPECT_THAT(patient->AwaitSteps(1), ElementsAre(recovery));
  }
}

// The refused stream is known until gRPC has let go of it.
TEST_F(ElectionServiceTest, AFollowerThatWasRefusedIsNotAdmittedLater) {
  for (uint32_t generation = 1; generation < 50; ++generation) {
    const auto follower = Follow(generation + 1, 0);
    service_.Serve(generation, 0);
    service_.Serve(generation + 1, 0);
    service_.Announce({1, {0}});
    const absl::Status status = follower->Await();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(absl::StrCat("shard 0 refuses shard 1: it is of generation ",
                                       generation + 1, " recovery 0, the job of ", generation)));
    EXPECT_TRUE(follower->AwaitSteps(0).empty());
  }
}

TEST_F(ElectionServiceTest, FollowersOfAnotherRecoveryWaitOrAreRefused) {
  const auto ahead = Follow(1, 1);
  const auto present = Follow(1, 0);
  service_.Serve(1, 0);
  service_.Announce({4, {0}});
  EXPECT_THAT(present->AwaitSteps(1), ElementsAre(4u));
  service_.Serve(1, 1);  // elections of before are forgotten
  EXPECT_EQ(present->Await().code(), absl::StatusCode::kFailedPrecondition);
  service_.Announce({3, {0}});
  EXPECT_THAT(ahead->AwaitSteps(1), ElementsAre(3u));
}

TEST_F(ElectionServiceTest, AShardThatIsNoLongerToldSuspectsShard0) {
  Mutex mutex;
  CondVar changed;
  absl::Status failure;
  ElectionFollower::Config config;
  config.shard = 1;
  config.shard0 = server_.endpoint;
  config.token = kToken;
  config.generation = 2;
  config.on_election = [](const ParameterShard::Election& /*election*/) {};
  config.on_failure = [&](const absl::Status& why) {
    MutexLock lock(&mutex);
    failure = why;
    changed.NotifyAll();
  };
  service_.Serve(1, 0);
  const ElectionFollower follower(config);
  MutexLock lock(&mutex);
  while (failure.ok()) changed.Wait(&mutex);
  EXPECT_EQ(failure.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ToString(SuspectsOf(failure)), "shard 0");
}

}  // namespace
}  // namespace ringside
