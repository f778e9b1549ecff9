#include "ps_server/shard_epochs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/ps_server/shard_frames.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;

class NoStreams final : public ShardExecutor::Streams {
 public:
  void Send(const ParameterShard::Result& result) override {
    MutexLock lock(&mutex_);
    ++results_;
    arena_ = result.owner;
    changed_.NotifyAll();
  }
  void FrameTaken(int /*worker*/) override {}
  void CloseAll(const absl::Status& /*failure*/) override {}

  void AwaitResults(int results) {
    MutexLock lock(&mutex_);
    while (results_ < results) changed_.Wait(&mutex_);
  }
  // Of the last result.
  std::weak_ptr<const Arena> TakeArena() {
    MutexLock lock(&mutex_);
    std::weak_ptr<const Arena> arena = arena_;
    arena_ = nullptr;
    return arena;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  int results_ ABSL_GUARDED_BY(mutex_) = 0;
  std::shared_ptr<const Arena> arena_ ABSL_GUARDED_BY(mutex_);
};

class ShardEpochsTest : public ::testing::Test {
 protected:
  ShardExecutor* Begin(uint32_t recovery, uint64_t first_step = 0, PsMode mode = PsMode::kSync) {
    ParameterShard::Config config{plan_, layout_, 0};
    config.policy.mode = mode;
    config.first_step = first_step;
    config.full_batch = 1;
    return epochs_.Begin(recovery,
                         std::make_unique<ShardExecutor>(ShardExecutor::Config{0, 1},
                                                         MakeShard(std::move(config)), &streams_));
  }
  // The one worker pushes all of a step and gets all results.
  void Step(ShardExecutor* executor, uint64_t step) {
    for (int unit = 0; unit < table_.size(); ++unit) {
      Frame frame = RandomPush(plan_, table_.unit(unit), 0, step);
      executor->PushFrame(frame.header, std::move(frame.payload));
    }
    results_ += table_.size();
    streams_.AwaitResults(results_);
  }
  void Lose(uint32_t recovery) {
    epochs_.Stop(absl::AbortedError("a shard was lost"), recovery);
    EXPECT_EQ(epochs_.Await(), absl::AbortedError("a shard was lost"));
  }

  const BucketPlan plan_ = PlanWithBuckets({64, 9});
  const ShardLayout layout_{1, 1, 16};
  const UnitTable table_{plan_, layout_, 0};
  int results_ = 0;
  NoStreams streams_;
  ShardEpochs epochs_;
};

TEST_F(ShardEpochsTest, AStopEndsTheEpochThatIsUnderWay) {
  EXPECT_FALSE(epochs_.under_way());
  Begin(0);
  EXPECT_TRUE(epochs_.under_way());
  Lose(1);
  EXPECT_FALSE(epochs_.under_way());
}

TEST_F(ShardEpochsTest, AStopThatIsPendingEndsTheNextEpoch) {
  epochs_.Stop(absl::AbortedError("shard 1 was lost"), 2);
  for (uint32_t recovery : {0, 1}) {
    Begin(recovery);
    EXPECT_EQ(epochs_.Await(), absl::AbortedError("shard 1 was lost"));
  }
}

// The word of the replacements may come when the epoch with all of them has begun.
TEST_F(ShardEpochsTest, AStopLeavesAloneTheEpochThatHasTheReplacement) {
  ShardExecutor* const executor = Begin(2);
  epochs_.Stop(absl::AbortedError("shard 0 was lost"), 1);
  epochs_.Stop(absl::AbortedError("shard 1 was lost"), 2);
  Step(executor, 0);
  EXPECT_TRUE(epochs_.under_way());
  epochs_.Stop(absl::AbortedError("shard 2 was lost"), 3);
  EXPECT_EQ(epochs_.Await(), absl::AbortedError("shard 2 was lost"));
}

TEST_F(ShardEpochsTest, AVerdictEndsEveryEpoch) {
  epochs_.Stop(absl::AbortedError("worker 1 was lost"), ShardEpochs::kForGood);
  epochs_.Stop(absl::AbortedError("shard 2 was lost"), 3);
  Begin(7);
  EXPECT_EQ(epochs_.Await(), absl::AbortedError("worker 1 was lost"));
}

TEST_F(ShardEpochsTest, TheAccountIsOfAllEpochs) {
  EXPECT_EQ(epochs_.account().steps, 0);
  ShardExecutor* executor = Begin(0, 0, PsMode::kAsync);
  for (uint64_t step : {0, 1, 2}) Step(executor, step);
  Lose(1);
  const ShardExecutor::Account first = epochs_.account();
  EXPECT_EQ(first.steps, 3);
  EXPECT_EQ(first.broadcasts, 1);
  EXPECT_EQ(first.open_step, 3);
  epochs_.Release();
  EXPECT_EQ(epochs_.account().frames, first.frames);

  executor = Begin(1, 2, PsMode::kAsync);  // step 2 is done again
  EXPECT_EQ(epochs_.account().open_step, 2);
  EXPECT_EQ(epochs_.account().units, table_.size());
  for (uint64_t step : {2, 3}) Step(executor, step);
  Lose(2);
  const ShardExecutor::Account both = epochs_.account();
  EXPECT_EQ(both.steps, 5);
  EXPECT_EQ(both.broadcasts, 1);
  EXPECT_EQ(both.open_step, 4);
  EXPECT_EQ(both.units, table_.size());
  EXPECT_EQ(both.frames, 5 * table_.size());
  EXPECT_EQ(both.statistics.pushes, 5 * table_.size());
  EXPECT_EQ(both.statistics.answers, 5 * table_.size());
  EXPECT_EQ(both.statistics.updates, 4 * table_.size());
  EXPECT_EQ(both.statistics.staleness.at(0), 4 * table_.size());
  EXPECT_GT(both.fold_time, first.fold_time);
  EXPECT_GT(both.queue_time, first.queue_time);
}

TEST_F(ShardEpochsTest, AnEpochThatIsOverKeepsNoState) {
  epochs_.Release();  // nothing yet
  ShardExecutor* const executor = Begin(0);
  Step(executor, 0);
  const std::weak_ptr<const Arena> arena = streams_.TakeArena();
  EXPECT_FALSE(arena.expired());
  Lose(1);
  epochs_.Release();
  EXPECT_TRUE(arena.expired());
  // A stream of that epoch may still refer to its executor.
  Frame frame = RandomPush(plan_, table_.unit(0), 0, 1);
  executor->PushFrame(frame.header, std::move(frame.payload));
  executor->StreamEnded(0, absl::OkStatus());
  EXPECT_EQ(executor->account().steps, 1);
  epochs_.Release();  // again
  Step(Begin(1, 1), 1);
}

TEST(ShardStatisticsTest, TheStalenessOfSeveralShardsIsAddedByValue) {
  ParameterShard::Statistics sum;
  ParameterShard::Statistics shard;
  shard.staleness = {5, 3, 1};
  shard.late_pushes = 2;
  sum += shard;
  sum += shard;
  sum += {};
  EXPECT_THAT(sum.staleness, ElementsAre(10, 6, 2));
  EXPECT_EQ(sum.late_pushes, 4);
}

}  // namespace
}  // namespace ringside
