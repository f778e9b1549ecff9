// One worker whose shards are lost and replaced, by other shards in this process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "common/coordinator/monotonic_clock.h"
#include "common/recovery_plan.h"
#include "common/suspects.h"
#include "tests/testing/ps_cluster.h"
#include "tests/testing/random_gradients.h"
#include "worker/synchronizers/ps_exchange.h"

namespace ringside {
namespace {

using ::testing::Each;

// Answers as it is told to.
class ScriptedRecovery final : public ShardRecovery {
 public:
  using Answer =
      std::function<absl::StatusOr<Meeting>(const absl::Status& failure, const std::string& state)>;

  explicit ScriptedRecovery(std::vector<Answer> answers) : answers_(std::move(answers)) {}

  absl::StatusOr<Meeting> Meet(const absl::Status& failure, int64_t /*step*/,
                               const std::string& state) override {
    if (next_ == answers_.size()) return absl::InternalError("one meeting too many");
    return answers_[next_++](failure, state);
  }
  void WatchReplacements(uint32_t recovery,
                         std::function<void(const absl::Status&)> handler) override {
    MutexLock lock(&mutex_);
    handler_ = std::move(handler);
    watched_ = recovery;
    changed_.NotifyAll();
  }

  // Waits until the worker connects to the shards of `recovery`.
  std::function<void(const absl::Status&)> AwaitConnecting(uint32_t recovery) {
    MutexLock lock(&mutex_);
    while (!handler_ || watched_ != recovery) changed_.Wait(&mutex_);
    return handler_;
  }
  size_t meetings() const { return next_; }

 private:
  const std::vector<Answer> answers_;
  size_t next_ = 0;

  Mutex mutex_;
  CondVar changed_;
  std::function<void(const absl::Status&)> handler_ ABSL_GUARDED_BY(mutex_);
  uint32_t watched_ ABSL_GUARDED_BY(mutex_) = 0;
};

class PsRecoveryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    values_ = RandomGradients(plan_.total_elements(), 0, 0);
    auto silent = ListeningSocket::Bind({"127.0.0.1", "127.0.0.1", {}});
    ASSERT_TRUE(silent.ok());
    silent_ = *std::move(silent);
    auto memory = ListeningSocket::BindLocal();
    ASSERT_TRUE(memory.ok());
    silent_memory_ = *std::move(memory);
  }

  PsCluster::Options Options(const PsPolicy& policy) const {
    PsCluster::Options options{plan_, {1, 2, 16}};
    options.policy = policy;
    return options;
  }
  static PsPolicy ServersHoldParameters(PsMode mode) {
    PsPolicy policy;
    policy.mode = mode;
    policy.update_on_server = true;
    return policy;
  }
  // Shards with parameters of zero after step 2.
  std::unique_ptr<PsCluster> AfterStep2(const PsPolicy& policy) const {
    PsCluster::Options options = Options(policy);
    options.first_step = 3;
    options.recovery = 1;
    return std::make_unique<PsCluster>(std::move(options));
  }
  static ScriptedRecovery::Answer With(const PsCluster& cluster) {
    return [&cluster](const absl::Status&, const std::string& state) {
      ShardRecovery::Meeting meeting;
      meeting.recovery = 1;
      meeting.shards = cluster.WorkerConfig(0).shards;
      meeting.workers = {state};
      meeting.snapshots = {EncodeSnapshots({1, 2}), EncodeSnapshots({2})};
      return meeting;
    };
  }
  // Somebody listens there who never says anything.
  std::vector<ShardAddress> SilentShards() const {
    ShardAddress address;
    address.tcp = {"127.0.0.1", silent_->port()};
    address.memory = silent_memory_->name();
    address.same_host = true;
    return {address, address};
  }
  ScriptedRecovery::Answer WithSilentShards() const {
    return [this](const absl::Status&, const std::string& state) {
      ShardRecovery::Meeting meeting;
      meeting.recovery = 1;
      meeting.shards = SilentShards();
      meeting.workers = {state};
      meeting.snapshots = {EncodeSnapshots({2}), EncodeSnapshots({2})};
      return meeting;
    };
  }
  static ScriptedRecovery::Answer Verdict(absl::Status* heard) {
    return [heard](const absl::Status& failure,
                   const std::string&) -> absl::StatusOr<ShardRecovery::Meeting> {
      *heard = failure;
      return absl::AbortedError("the verdict");
    };
  }
  absl::StatusOr<std::unique_ptr<PsExchange>> Connect(const PsCluster& cluster,
                                                      std::vector<ScriptedRecovery::Answer> script,
                                                      const std::string& link = "grpc_tcp") {
    recovery_ = std::make_shared<ScriptedRecovery>(std::move(script));
    PsExchange::Config config = cluster.WorkerConfig(0);
    config.connect_timeout = absl::Hours(1);
    config.ps_link = link;
    config.recovery = recovery_;
    return PsExchange::Create(std::move(config));
  }
  void Submit(PsExchange* exchange, int64_t step, bool after_backward = false) {
    for (int bucket = 0; bucket < plan_.size(); ++bucket) {
      const ElementRange& range = plan_.bucket(bucket);
      exchange->Submit({step, 0, bucket,
                        absl::MakeConstSpan(values_).subspan(range.begin, range.length),
                        /*samples=*/1, after_backward});
    }
  }
  absl::StatusOr<int64_t> Train(PsExchange* exchange, int64_t step) {
    Submit(exchange, step);
    return exchange->Finish(step);
  }
  void TrainTo(PsExchange* exchange, int64_t last) {
    for (int64_t step = 0; step <= last; ++step) {
      const auto finished = Train(exchange, step);
      ASSERT_TRUE(finished.ok()) << finished.status();
      ASSERT_EQ(*finished, step);
    }
  }

  const BucketPlan plan_ = PlanWithBuckets({30, 7});
  std::vector<float> values_;
  std::unique_ptr<ListeningSocket> silent_;
  std::unique_ptr<ListeningSocket> silent_memory_;
  std::shared_ptr<ScriptedRecovery> recovery_;
};

TEST_F(PsRecoveryTest, SumsGoOnInTheSameStep) {
  PsCluster lost(Options({}));
  PsCluster::Options options = Options({});
  options.first_step = 4;
  options.recovery = 1;
  PsCluster replaced(options);
  auto exchange = Connect(lost, {With(replaced)});
  ASSERT_TRUE(exchange.ok()) << exchange.status();
  TrainTo(exchange->get(), 3);
  lost.KillShard(0);
  lost.KillShard(1);
  const auto finished = Train(exchange->get(), 4);
  ASSERT_TRUE(finished.ok()) << finished.status();
  EXPECT_EQ(*finished, 4);
  EXPECT_TRUE(SameBits((*exchange)->results(), values_));
  EXPECT_EQ(*(*exchange)->Shutdown(), absl::nullopt);
}

TEST_F(PsRecoveryTest, ParametersGoBackAndTheLossIsNoPartOfTheNextStep) {
  const PsPolicy policy = ServersHoldParameters(PsMode::kSync);
  PsCluster lost(Options(policy));
  const auto replaced = AfterStep2(policy);
  auto exchange = Connect(lost, {With(*replaced)});
  ASSERT_TRUE(exchange.ok()) << exchange.status();
  TrainTo(exchange->get(), 4);
  lost.KillShard(1);
  const auto back = Train(exchange->get(), 5);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(*back, 2);
  EXPECT_THAT((*exchange)->results(), Each(0.0f));

  const absl::Time begin = MonotonicNow();
  Submit(exchange->get(), 3, /*after_backward=*/true);
  ASSERT_TRUE((*exchange)->Finish(3).ok());
  const CommunicationTimes times = (*exchange)->communication();
  EXPECT_GT(times.exposed, absl::ZeroDuration());
  EXPECT_EQ(times.hidden, absl::ZeroDuration());
  EXPECT_LE(times.exposed, MonotonicNow() - begin);
}

TEST_F(PsRecoveryTest, WhoHasFinishedGoesBackToTraining) {
  for (const PsMode mode : {PsMode::kSync, PsMode::kAsync}) {
    const PsPolicy policy = ServersHoldParameters(mode);
    PsCluster lost(Options(policy));
    const auto replaced = AfterStep2(policy);
    auto exchange = Connect(lost, {With(*replaced)});
    ASSERT_TRUE(exchange.ok()) << exchange.status();
    TrainTo(exchange->get(), 4);
    lost.KillShard(0);
    lost.KillShard(1);
    const auto back = (*exchange)->Shutdown();
    ASSERT_TRUE(back.ok()) << back.status();
    ASSERT_EQ(*back, 2);
    EXPECT_THAT((*exchange)->results(), Each(0.0f));
    for (int64_t step : {3, 4}) {
      const auto finished = Train(exchange->get(), step);
      ASSERT_TRUE(finished.ok()) << finished.status();
      EXPECT_EQ(*finished, step);
    }
    const auto ended = (*exchange)->Shutdown();
    ASSERT_TRUE(ended.ok()) << ended.status();
    EXPECT_EQ(*ended, absl::nullopt);
  }
}

// The shards do not answer, over gRPC or about memory.
class PsReconnectTest : public PsRecoveryTest, public ::testing::WithParamInterface<std::string> {
 protected:
  // Step 1 loses the shards; returns how it ended, with `meanwhile` run while the worker connects.
  absl::Status LoseShards(PsCluster* cluster, PsExchange* exchange,
                          const std::function<void()>& meanwhile) {
    cluster->KillShard(0);
    cluster->KillShard(1);
    absl::Status status;
    std::thread thread([&] { status = Train(exchange, 1).status(); });
    meanwhile();
    thread.join();
    return status;
  }
};

TEST_P(PsReconnectTest, AbortEndsTheAttemptToConnect) {
  PsCluster cluster(Options({}));
  auto exchange = Connect(cluster, {WithSilentShards()}, GetParam());
  ASSERT_TRUE(exchange.ok()) << exchange.status();
  TrainTo(exchange->get(), 0);
  const absl::Status verdict = absl::AbortedError("worker 3 was lost at step 1");
  EXPECT_EQ(LoseShards(&cluster, exchange->get(),
                       [&] {
                         recovery_->AwaitConnecting(1);
                         (*exchange)->Abort(verdict);
                       }),
            verdict);
  EXPECT_EQ((*exchange)->Shutdown().status(), verdict);
}

TEST_P(PsReconnectTest, AnotherLossEndsTheAttemptToConnect) {
  PsCluster cluster(Options({}));
  absl::Status heard;
  auto exchange = Connect(cluster, {WithSilentShards(), Verdict(&heard)}, GetParam());
  ASSERT_TRUE(exchange.ok()) << exchange.status();
  TrainTo(exchange->get(), 0);
  const absl::Status loss = WithSuspects(absl::AbortedError("shard 0 again"), {ShardId(0)});
  EXPECT_EQ(
      LoseShards(&cluster, exchange->get(), [&] { recovery_->AwaitConnecting(1)(loss); }).message(),
      "the verdict");
  EXPECT_EQ(heard, loss);
}

TEST_P(PsReconnectTest, ALossBeforeTheFirstConnectionIsMadeGood) {
  PsCluster::Options options = Options({});
  options.recovery = 1;
  PsCluster replaced(options);
  recovery_ =
      std::make_shared<ScriptedRecovery>(std::vector<ScriptedRecovery::Answer>{With(replaced)});
  PsExchange::Config config = replaced.WorkerConfig(0);
  config.shards = SilentShards();
  config.connect_timeout = absl::Hours(1);
  config.ps_link = GetParam();
  config.recovery = recovery_;
  absl::StatusOr<std::unique_ptr<PsExchange>> exchange = absl::UnknownError("not yet");
  std::thread thread([&] { exchange = PsExchange::Create(config); });
  recovery_->AwaitConnecting(0)(WithSuspects(absl::AbortedError("replaced"), {ShardId(0)}));
  thread.join();
  ASSERT_TRUE(exchange.ok()) << exchange.status();
  TrainTo(exchange->get(), 1);
  EXPECT_EQ(recovery_->meetings(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Links, PsReconnectTest, ::testing::Values("grpc_tcp", "shm"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace ringside
