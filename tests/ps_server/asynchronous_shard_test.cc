#include "ps_server/asynchronous_shard.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/ps_server/shard_frames.h"

namespace ringside {
namespace {

// One unit, plain gradient descent with rate 1, numbers that can be followed by hand.
class ScriptedShardTest : public ::testing::Test {
 protected:
  void Make(PsMode mode, int staleness, uint64_t first_step = 0) {
    ParameterShard::Config config{plan_, layout_, 0};
    config.first_step = first_step;
    config.policy.mode = mode;
    config.policy.staleness = staleness;
    config.full_batch = 1;
    config.optimizer.learning_rate = 1;
    shard_ = MakeShard(std::move(config));
  }
  // "worker=value" of each answer, in order.
  std::vector<std::string> Push(int worker, uint64_t step, float gradient, uint64_t weight = 1) {
    const UnitTable::Unit& unit = shard_->table().unit(0);
    const std::vector<float> arena = {gradient};
    std::vector<std::string> answers;
    for (const auto& result :
         Take(shard_.get(), FrameOf(plan_, unit, PushHeader(unit, worker, step, weight), arena))) {
      answers.push_back(std::to_string(result.worker) + "=" +
                        std::to_string(static_cast<int>(result.values[0])));
    }
    return answers;
  }
  using Answers = std::vector<std::string>;

  const BucketPlan plan_ = PlanWithBuckets({1});
  const ShardLayout layout_{2, 1, 4};
  std::unique_ptr<ParameterShard> shard_;
};

TEST_F(ScriptedShardTest, AsyncAppliesInTheOrderOfArrival) {
  Make(PsMode::kAsync, 0);
  EXPECT_FALSE(shard_->MutableState().has_value());
  EXPECT_EQ(Push(1, 0, -0.0f), Answers{});
  EXPECT_TRUE(shard_->somebody_waits());
  EXPECT_EQ(Push(0, 0, 100), (Answers{"0=100", "1=100"}));
  EXPECT_FALSE(shard_->somebody_waits());
  EXPECT_EQ(Push(0, 1, 1), Answers{"0=99"});
  EXPECT_EQ(Push(0, 2, 2), Answers{"0=97"});
  EXPECT_EQ(Push(0, 3, 3), Answers{"0=94"});
  EXPECT_EQ(shard_->open_step(), 1u);
  EXPECT_EQ(Push(1, 1, 10), Answers{"1=84"});       // misses three
  EXPECT_EQ(Push(1, 2, 1000, 0), Answers{"1=84"});  // no samples
  EXPECT_EQ(Push(0, 4, 4), Answers{"0=80"});        // misses one
  EXPECT_EQ(shard_->open_step(), 3u);
  const std::vector<int64_t>& staleness = shard_->statistics().staleness;
  EXPECT_EQ(staleness[0], 4);
  EXPECT_EQ(staleness[1], 1);
  EXPECT_EQ(staleness[3], 1);
  EXPECT_EQ(shard_->statistics().updates, 5);
  EXPECT_EQ(shard_->statistics().pushes, 8);
  EXPECT_EQ(shard_->statistics().answers, 8);
}

TEST_F(ScriptedShardTest, APushMovesByItsShareOfAFullBatch) {
  ParameterShard::Config config{plan_, layout_, 0};
  config.policy.mode = PsMode::kAsync;
  config.full_batch = 8;
  config.optimizer.learning_rate = 1;
  shard_ = MakeShard(std::move(config));
  Push(0, 0, 100), Push(1, 0, -0.0f);
  EXPECT_EQ(Push(0, 1, 40, 4), Answers{"0=80"});
  EXPECT_EQ(Push(1, 1, 40, 2), Answers{"1=70"});
  EXPECT_EQ(Push(0, 2, 40, 8), Answers{"0=30"});
}

TEST_F(ScriptedShardTest, SspHoldsTheFastUntilTheSlowComeOn) {
  Make(PsMode::kSsp, 1);
  EXPECT_EQ(Push(0, 0, 100), Answers{"0=100"});
  EXPECT_EQ(Push(0, 1, 1), Answers{});  // the other has not pushed step 0
  EXPECT_TRUE(shard_->somebody_waits());
  EXPECT_EQ(Push(1, 0, -0.0f), (Answers{"1=99", "0=99"}));
  EXPECT_EQ(Push(0, 2, 1), Answers{});
  EXPECT_EQ(shard_->FindMissing().workers, std::vector<int>{1});
  EXPECT_EQ(shard_->FindMissing().step, 1u);
  EXPECT_EQ(Push(1, 1, 10), (Answers{"0=88", "1=88"}));
  EXPECT_FALSE(shard_->somebody_waits());
}

TEST_F(ScriptedShardTest, TheLastEntryOfTheHistogramCountsMoreToo) {
  Make(PsMode::kAsync, 0);
  Push(0, 0, 0), Push(1, 0, -0.0f);
  for (uint64_t step = 1; step <= 70; ++step) Push(0, step, 1);
  Push(1, 1, 1);
  EXPECT_EQ(shard_->statistics().staleness[64], 1);
  EXPECT_EQ(shard_->statistics().staleness.size(), 65u);
}

TEST_F(ScriptedShardTest, WorkersMayEndWithoutAStep) {
  Make(PsMode::kAsync, 0);
  Take(shard_.get(), {HeaderOf(FrameKind::kFinish, 0, 0), {}});
  const auto results = Take(shard_.get(), {HeaderOf(FrameKind::kFinish, 1, 0), {}});
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[0].header.step, 0u);
}

TEST_F(ScriptedShardTest, SavedVersionsCarryTheSchedule) {
  const NamedUpdate adam = TestUpdates()[1];
  for (uint64_t cut = 1; cut <= 5; ++cut) {
    ParameterShard::Config config{plan_, layout_, 0};
    config.policy.mode = PsMode::kAsync;
    config.full_batch = 3;
    config.optimizer = adam.optimizer;
    config.learning_rate = adam.rate;
    const auto one = MakeShard(config);
    const auto push = [&](ParameterShard* shard, int worker, uint64_t step) {
      const UnitTable::Unit& unit = shard->table().unit(0);
      const auto results = Take(shard, RandomPush(plan_, unit, worker, step));
      return results.empty() ? 0.0f : results.back().values[0];
    };
    for (uint64_t step = 0; step < cut; ++step) push(one.get(), 0, step), push(one.get(), 1, step);
    const SavedState saved(one->MutableState().value());
    EXPECT_EQ(saved.step(), cut - 1);
    config.first_step = cut;
    const auto other = MakeShard(config);
    saved.RestoreTo(other.get());
    for (int worker : {0, 1}) {
      const auto pulled = Take(other.get(), {HeaderOf(FrameKind::kPull, worker, cut - 1), {}});
      ASSERT_EQ(pulled.size(), 1u);
      EXPECT_EQ(pulled[0].worker, worker);
      EXPECT_EQ(pulled[0].header.step, cut - 1);
    }
    for (uint64_t step = cut; step < cut + 4; ++step) {
      for (int worker : {1, 0}) {
        const float own = push(one.get(), worker, step), restored = push(other.get(), worker, step);
        EXPECT_TRUE(SameBits({&own, 1}, {&restored, 1}));
      }
    }
    EXPECT_EQ(other->statistics().staleness[0] + other->statistics().staleness[1], 8);
  }
}

TEST_F(ScriptedShardTest, OnlyAShardThatWasRestoredCanBePulledFrom) {
  Make(PsMode::kAsync, 0);
  std::vector<ParameterShard::Result> results;
  EXPECT_EQ(shard_->Push(HeaderOf(FrameKind::kPull, 0, 0), {}, &results).code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(shard_->Elect({1, {0, 1}}, &results).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(results.empty());
}

TEST(AsynchronousShardCreateTest, RefusesANegativeStalenessAndNoFullBatch) {
  ParameterShard::Config config{PlanWithBuckets({1}), {2, 1, 4}, 0};
  config.policy.mode = PsMode::kSsp;
  EXPECT_EQ(ParameterShard::Create(config).status().message(),
            "a full batch of 0 samples: must be at least 1");
  config.full_batch = 1;
  config.policy.staleness = -1;
  const absl::Status status = ParameterShard::Create(config).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "--staleness=-1: must be at least 0");
}

}  // namespace
}  // namespace ringside
