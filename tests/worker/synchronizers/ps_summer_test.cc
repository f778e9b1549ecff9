#include "worker/synchronizers/ps_summer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/coordinator/monotonic_clock.h"
#include "common/logging.h"
#include "common/ps_traffic.h"
#include "common/suspects.h"
#include "tests/testing/ps_cluster.h"
#include "tests/testing/random_gradients.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

// Runs `steps` exchanges of one worker and compares every bit. Odd steps are submitted out of
// memory that is not shared, as initial parameters are.
void Train(PsSummer* summer, const BucketPlan& plan, int workers, int rank, int64_t steps,
           absl::Span<float> shared) {
  std::vector<float> own;
  for (int64_t step = 0; step < steps; ++step) {
    const auto sums = step % 2 == 0 ? Exchange(summer, plan, rank, step, shared)
                                    : Exchange(summer, plan, rank, step, &own);
    ASSERT_TRUE(sums.ok()) << sums.status();
    ASSERT_TRUE(SameBits(*sums, LawfulSums(plan, workers, step)))
        << "step " << step << " rank " << rank;
  }
  EXPECT_TRUE(summer->Shutdown().ok());
}

void RunCluster(const PsCluster::Options& options, int64_t steps,
                const std::string& links_in_force) {
  const BucketPlan& plan = options.plan;
  const ShardLayout& layout = options.layout;
  PsCluster cluster(options);
  {
    const auto summers = cluster.ConnectAll();
    std::vector<std::thread> threads;
    for (int rank = 0; rank < layout.world_size; ++rank) {
      threads.emplace_back([&, rank] {
        Train(summers[rank].get(), plan, layout.world_size, rank, steps,
              cluster.gradients(rank).span());
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const auto& summer : summers) {
      EXPECT_EQ(summer->traffic(), summer->ExpectedTraffic(steps));
      EXPECT_EQ(summer->links(), links_in_force);
    }
  }
  for (int shard = 0; shard < layout.num_shards; ++shard) {
    EXPECT_TRUE(cluster.executor(shard).Await().ok());
    EXPECT_EQ(cluster.executor(shard).account().steps, steps);
    EXPECT_EQ(cluster.service(shard).traffic(), PsShardTraffic(plan, layout, shard, steps));
  }
}

class PsLinkTest : public ::testing::TestWithParam<std::string> {
 protected:
  PsCluster::Options Options(const BucketPlan& plan, const ShardLayout& layout) const {
    PsCluster::Options options{plan, layout};
    options.ps_link = GetParam();
    return options;
  }
};

TEST_P(PsLinkTest, GivesTheLawfulBitsForAnyNumberOfWorkersAndShards) {
  const BucketPlan plan = PlanWithBuckets({97, 3, 200, 5000});
  for (int workers = 1; workers <= 4; ++workers) {
    for (int shards = 1; shards <= 3; ++shards)
      RunCluster(Options(plan, {workers, shards, 1024}), 4, GetParam());
  }
}

TEST_P(PsLinkTest, GivesTheLawfulBitsForFramesOfFullSize) {
  RunCluster(Options(PlanWithBuckets({1 << 20, 300001}), {2, 2, kMaxFramePayloadBytes}), 3,
             GetParam());
}

INSTANTIATE_TEST_SUITE_P(Links, PsLinkTest, ::testing::Values("grpc_tcp", "grpc_uds", "shm"),
                         [](const auto& info) { return info.param; });

TEST_P(PsLinkTest, TracesWhatTravelsInTheWindow) {
  const BucketPlan plan = PlanWithBuckets({97, 3, 200});
  PsCluster cluster(Options(plan, {1, 2, 64}));
  TraceBuffer buffer({2, 2}, 1000);
  PsSummer::Config config = cluster.WorkerConfig(0);
  config.trace = &buffer;
  {
    const auto summer = PsSummer::Create(config);
    ASSERT_TRUE(summer.ok()) << summer.status();
    Train(summer->get(), plan, 1, 0, 4, cluster.gradients(0).span());
  }
  ProcessTrace trace;
  buffer.AppendTo(&trace);
  std::map<std::pair<int, int>, int> results;  // units that came back, by bucket and shard
  std::map<std::pair<int, int>, int64_t> pushed;
  for (const TraceSpan& span : trace.spans()) {
    EXPECT_EQ(span.step(), 2);
    EXPECT_LE(span.begin_ns(), span.end_ns());
    const std::pair<int, int> place(span.bucket(), span.peer());
    if (span.kind() == TRACE_RESULT) ++results[place];
    if (span.kind() == TRACE_PUSH) pushed.emplace(place, span.begin_ns());
  }
  for (int shard = 0; shard < 2; ++shard) {
    const UnitTable table(plan, {1, 2, 64}, shard);
    for (int bucket = 0; bucket < plan.size(); ++bucket) {
      const int units = table.first_of_bucket(bucket + 1) - table.first_of_bucket(bucket);
      EXPECT_EQ((results[{bucket, shard}]), units);
      EXPECT_EQ((pushed.count({bucket, shard})), units > 0 ? 1u : 0u);
    }
  }
}

TEST(PsSummerTest, SmallFramesOverSharedMemoryAreManyAMessage) {
  PsCluster::Options options{PlanWithBuckets({4000}), {2, 1, 4}};
  options.ps_link = "shm";
  RunCluster(options, 2, "shm");
}

TEST(PsSummerTest, AutoSharesMemoryOnOneHostAndGoesOverTcpToAnother) {
  PsCluster::Options options{PlanWithBuckets({97, 300}), {2, 2, 64}};
  options.ps_link = "auto";
  RunCluster(options, 3, "shm");
  PsCluster cluster(options);
  PsSummer::Config config = cluster.WorkerConfig(0);
  config.shards[1].same_host = false;
  const auto mixed = PsSummer::Create(config);
  ASSERT_TRUE(mixed.ok()) << mixed.status();
  EXPECT_EQ((*mixed)->links(), "grpc_tcp,shm");
}

TEST(PsSummerTest, WhereNoMemoryIsToBeHadThePayloadIsSent) {
  PsCluster::Options options{PlanWithBuckets({97, 300}), {2, 2, 64}};
  options.ps_link = "shm";
  options.results = Arena::Placement::kHeap;
  SetLogName("test");
  testing::internal::CaptureStderr();
  RunCluster(options, 3, "grpc_uds");
  EXPECT_THAT(
      testing::internal::GetCapturedStderr(),
      HasSubstr("no shared memory with shard 1 (the shard's results are not in shared memory); "
                "grpc_uds is used instead"));
  options.results = Arena::Placement::kShared;
  options.gradients = Arena::Placement::kHeap;
  testing::internal::CaptureStderr();
  RunCluster(options, 3, "grpc_uds");
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("(the gradients of this worker are not in shared memory); grpc_uds"));
}

TEST(PsSummerTest, ALinkThatNeedsOneHostIsRefusedAcrossHosts) {
  PsCluster cluster({PlanWithBuckets({8}), {1, 2, 16}});
  for (const char* link : {"grpc_uds", "shm"}) {
    PsSummer::Config config = cluster.WorkerConfig(0);
    config.ps_link = link;
    config.shards[1].same_host = false;
    const absl::Status status = PsSummer::Create(config).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()), HasSubstr(std::string("--ps_link=") + link));
    EXPECT_THAT(std::string(status.message()), HasSubstr("shard 1 at 127.0.0.1:"));
    EXPECT_THAT(std::string(status.message()), HasSubstr("is on another host than worker 0"));
  }
  PsSummer::Config config = cluster.WorkerConfig(0);
  config.ps_link = "warp";
  EXPECT_THAT(std::string(PsSummer::Create(config).status().message()),
              HasSubstr("--ps_link=warp: must be one of"));
}

TEST(PsSummerTest, AShardThatDoesNotAnswerAboutMemoryIsNamed) {
  PsCluster::Options options{PlanWithBuckets({8}), {1, 2, 16}};
  options.serve = false;
  options.ps_link = "shm";
  PsCluster cluster(options);
  PsSummer::Config config = cluster.WorkerConfig(0);
  config.connect_timeout = absl::Milliseconds(50);
  const absl::Status status = PsSummer::Create(config).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(status.message()), HasSubstr("no answer from shard 0 at 127.0.0.1:"));
  EXPECT_EQ(ToString(SuspectsOf(status)), "shard 0");
}

// Worker 0 has all its buckets under way while it waits for worker 1, who has not begun.
TEST(PsSummerTest, TellsHiddenCommunicationFromExposed) {
  const BucketPlan plan = PlanWithBuckets({97, 300});
  PsCluster cluster({plan, {2, 2, 64}});
  std::vector<std::vector<float>> gradients;
  for (const ElementRange& range : {plan.bucket(0), plan.bucket(1)})
    gradients.emplace_back(static_cast<size_t>(range.length), 1.0f);
  const auto summers = cluster.ConnectAll();
  for (const bool after_backward : {false, true}) {
    const int64_t step = after_backward ? 1 : 0;
    const auto submit = [&](int rank) {
      for (int bucket : {0, 1})
        summers[rank]->Submit({step, rank, bucket, gradients[bucket], 1, after_backward});
    };
    const absl::Time begin = MonotonicNow();
    submit(0);
    submit(1);
    for (const auto& summer : summers) ASSERT_TRUE(summer->Finish(step).ok());
    const CommunicationTimes times = summers[0]->communication();
    EXPECT_GT(after_backward ? times.exposed : times.hidden, absl::ZeroDuration());
    EXPECT_LE(times.hidden + times.exposed, MonotonicNow() - begin);
    EXPECT_EQ(times.hidden > absl::ZeroDuration(), !after_backward);
  }
  for (const auto& summer : summers) summer->Abort(absl::AbortedError("done"));
}

TEST(PsSummerTest, RefusesMoreShardsThanElements) {
  PsSummer::Config config{Group::World(1, 0, 1), PlanWithBuckets({2}), std::vector<ShardAddress>(3),
                          ""};
  const absl::Status status = PsSummer::Create(std::move(config)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("--ps_shards=3: more shards than elements"));
}

TEST(PsSummerTest, NotADeadServerButAnAddressIsNamed) {
  const BucketPlan plan = PlanWithBuckets({8});
  PsCluster cluster({plan, {1, 2, 16}});
  PsSummer::Config config = cluster.WorkerConfig(0);
  cluster.KillShard(1);
  config.connect_timeout = absl::Milliseconds(200);
  const absl::Status status = PsSummer::Create(config).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(status.message()), HasSubstr("no answer from shard 1 at 127.0.0.1:"));
  EXPECT_EQ(ToString(SuspectsOf(status)), "shard 1");
}

TEST(PsSummerTest, SwappedAddressesAreNoticed) {
  PsCluster cluster({PlanWithBuckets({8}), {1, 2, 16}});
  PsSummer::Config config = cluster.WorkerConfig(0);
  std::swap(config.shards[0], config.shards[1]);
  const absl::Status status = PsSummer::Create(config).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr(" answers there"));
}

class PsSummerFailureTest : public ::testing::Test {
 protected:
  void Connect(absl::Duration shard_timeout, absl::Duration worker_timeout) {
    cluster_ = std::make_unique<PsCluster>(PsCluster::Options{plan_, {3, 2, 16}, shard_timeout});
    for (int rank = 0; rank < 3; ++rank) {
      PsSummer::Config config = cluster_->WorkerConfig(rank);
      config.step_timeout = worker_timeout;
      auto summer = PsSummer::Create(std::move(config));
      ASSERT_TRUE(summer.ok()) << summer.status();
      summers_.push_back(std::move(summer).value());
    }
  }
  // Workers 0 and 1 push step 0 and wait for worker 2; returns what they get.
  std::vector<absl::Status> WaitForWorker2(const std::function<void()>& meanwhile) {
    std::vector<absl::Status> statuses(2);
    std::vector<std::thread> threads;
    for (int rank : {0, 1}) {
      threads.emplace_back([&, rank] {
        statuses[rank] = Exchange(summers_[rank].get(), plan_, rank, 0, &gradients_[rank]).status();
      });
    }
    meanwhile();
    for (std::thread& thread : threads) thread.join();
    return statuses;
  }

  const BucketPlan plan_ = PlanWithBuckets({30, 7});
  std::unique_ptr<PsCluster> cluster_;
  std::vector<float> gradients_[2];  // destroyed after the summers that may still send them
  std::vector<std::unique_ptr<PsSummer>> summers_;
};

TEST_F(PsSummerFailureTest, AWorkerThatDiesIsNamedToTheOthers) {
  Connect(absl::Seconds(30), absl::Seconds(30));
  for (const absl::Status& status : WaitForWorker2([&] { summers_[2].reset(); })) {
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("the stream of worker 2 broke at step 0"));
    EXPECT_EQ(ToString(SuspectsOf(status)), "worker 2");
  }
  EXPECT_EQ(ToString(SuspectsOf(cluster_->executor(0).Await())), "worker 2");
  // The first error is sticky.
  EXPECT_EQ(summers_[0]->Finish(1).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(summers_[0]->Shutdown().code(), absl::StatusCode::kUnavailable);
}

TEST_F(PsSummerFailureTest, ASilentWorkerIsNamedToTheOthersWithStepAndBucket) {
  Connect(absl::Milliseconds(200), absl::Seconds(30));
  for (const absl::Status& status : WaitForWorker2([] {})) {
    EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("has waited 200ms for worker 2 at step 0 bucket 0 (60 bytes)"));
    EXPECT_EQ(ToString(SuspectsOf(status)), "worker 2");
  }
}

TEST_F(PsSummerFailureTest, ASilentShardIsNamedWithStepBucketAndBytes) {
  Connect(absl::Seconds(30), absl::Milliseconds(200));
  for (const absl::Status& status : WaitForWorker2([] {})) {
    EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("has waited 200ms for shard 0, shard 1 at step 0 bucket 0 (120 bytes)"));
    EXPECT_EQ(ToString(SuspectsOf(status)), "shard 0, shard 1");
  }
}

TEST_F(PsSummerFailureTest, AShardThatDiesIsNamed) {
  Connect(absl::Seconds(30), absl::Seconds(30));
  for (const absl::Status& status : WaitForWorker2([&] { cluster_->KillShard(1); })) {
    EXPECT_THAT(std::string(status.message()), HasSubstr("shard 1 at 127.0.0.1:"));
    EXPECT_THAT(std::string(status.message()), HasSubstr("has ended the stream: "));
    EXPECT_EQ(ToString(SuspectsOf(status)), "shard 1");
  }
}

TEST_F(PsSummerFailureTest, AbortEndsAWaitWithItsCause) {
  Connect(absl::Seconds(30), absl::Seconds(30));
  const absl::Status verdict = absl::AbortedError("worker 2 was lost at step 0");
  const std::vector<absl::Status> statuses = WaitForWorker2([&] { summers_[0]->Abort(verdict); });
  EXPECT_EQ(statuses[0], verdict);
  EXPECT_EQ(ToString(SuspectsOf(statuses[1])), "worker 0");  // it gave up, as the shards noticed
  EXPECT_EQ(summers_[0]->Finish(1).status(), verdict);
  EXPECT_EQ(summers_[0]->Shutdown(), verdict);
}

TEST_F(PsSummerFailureTest, WrongSubmissionsShowInFinish) {
  const std::vector<float> values(30);
  Connect(absl::Seconds(30), absl::Seconds(30));
  EXPECT_THAT(std::string(summers_[0]->Finish(0).status().message()),
              HasSubstr("bucket 0 of step 0 was not submitted"));
  summers_[1]->Submit({0, 2, 0, values, 1});
  EXPECT_THAT(std::string(summers_[1]->Finish(0).status().message()),
              HasSubstr("worker 1 was given gradients of worker 2"));
  summers_[2]->Submit({0, 2, 1, values, 1});
  EXPECT_THAT(std::string(summers_[2]->Finish(0).status().message()),
              HasSubstr("is not in the plan"));
}

}  // namespace
}  // namespace ringside
