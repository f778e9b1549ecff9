#include "ps_server/synchronous_shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/ps_server/shard_frames.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<Frame> ShuffledStep(const BucketPlan& plan, const UnitTable& table, int workers,
                                uint64_t step, std::mt19937* random) {
  std::vector<Frame> frames;
  for (int unit = 0; unit < table.size(); ++unit) {
    for (int worker = 0; worker < workers; ++worker) {
      frames.push_back(RandomPush(plan, table.unit(unit), worker, step, (*random)() % 29));
    }
  }
  std::shuffle(frames.begin(), frames.end(), *random);
  return frames;
}

TEST(SynchronousShardTest, AnyOrderOfArrivalGivesTheLawfulBits) {
  const BucketPlan plan = PlanWithBuckets({37, 1, 3, 50});
  std::mt19937 random(1);
  for (int workers = 1; workers <= 5; ++workers) {
    for (int shards = 1; shards <= 3; ++shards) {
      const ShardLayout layout{workers, shards, 28};
      std::vector<std::unique_ptr<ParameterShard>> machines;
      for (int shard = 0; shard < shards; ++shard)
        machines.push_back(MakeShard({plan, layout, shard}));
      for (uint64_t step = 0; step < 5; ++step) {  // both arenas, more than once
        std::vector<float> sums(plan.total_elements());
        for (int shard = 0; shard < shards; ++shard) {
          const UnitTable table(plan, layout, shard);
          int results = 0;
          for (Frame& frame : ShuffledStep(plan, table, workers, step, &random)) {
            for (const auto& result : Take(machines[shard].get(), std::move(frame))) {
              EXPECT_EQ(result.worker, ParameterShard::kEveryWorker);
              CopyResult(plan, result, &sums);
              ++results;
            }
          }
          ASSERT_EQ(results, table.size());
          EXPECT_EQ(machines[shard]->open_step(), step + 1);
          EXPECT_EQ(machines[shard]->parked_frames(), 0);
        }
        EXPECT_TRUE(SameBits(sums, LawfulSums(plan, workers, static_cast<int64_t>(step))))
            << workers << " workers, " << shards << " shards";
      }
    }
  }
}

// The sums are those of LawfulSums, the parameters those of a worker with the same optimizer.
TEST(SynchronousShardTest, UpdatesAsWorkersWouldInAnyOrderOfArrival) {
  const BucketPlan plan = PlanWithBuckets({37, 1, 3, 50});
  std::mt19937 random(2);
  for (const NamedUpdate& update : TestUpdates()) {
    for (int workers = 1; workers <= 4; ++workers) {
      for (int shards = 1; shards <= 3; ++shards) {
        const ShardLayout layout{workers, shards, 28};
        std::vector<std::unique_ptr<ParameterShard>> machines;
        for (int shard = 0; shard < shards; ++shard) {
          ParameterShard::Config config{plan, layout, shard};
          config.policy.update_on_server = true;
          config.optimizer = update.optimizer;
          config.learning_rate = update.rate;
          machines.push_back(MakeShard(std::move(config)));
        }
        WholeOptimizer model(update.optimizer, update.rate, LawfulSums(plan, workers, 0));
        for (uint64_t step = 0; step < 7; ++step) {
          std::vector<float> parameters(plan.total_elements());
          for (int shard = 0; shard < shards; ++shard) {
            const UnitTable table(plan, layout, shard);
            for (Frame& frame : ShuffledStep(plan, table, workers, step, &random)) {
              for (const auto& result : Take(machines[shard].get(), std::move(frame)))
                CopyResult(plan, result, &parameters);
            }
          }
          const auto at = static_cast<int64_t>(step);
          if (step > 0) model.Apply(at, LawfulSums(plan, workers, at));
          ASSERT_TRUE(SameBits(parameters, model.parameters()))
              << update.optimizer.name << ", " << workers << " workers, " << shards
              << " shards, step " << step;
        }
        EXPECT_EQ(machines[0]->statistics().updates, 6 * machines[0]->table().size());
      }
    }
  }
}

TEST(SynchronousShardTest, ResultsOfOneStepOutliveTheFoldsOfTheNext) {
  const BucketPlan plan = PlanWithBuckets({40});
  const ShardLayout layout{2, 1, 40};
  const auto shard = MakeShard({plan, layout});
  std::vector<ParameterShard::Result> of_step[4];
  for (uint64_t step = 0; step < 4; ++step) {
    for (int unit = 0; unit < shard->table().size(); ++unit) {
      for (int worker : {0, 1}) {
        for (auto& result :
             Take(shard.get(), RandomPush(plan, shard->table().unit(unit), worker, step)))
          of_step[step].push_back(result);
      }
    }
    if (step == 0) continue;
    std::vector<float> before(plan.total_elements());
    for (const auto& result : of_step[step - 1]) CopyResult(plan, result, &before);
    EXPECT_TRUE(SameBits(before, LawfulSums(plan, 2, static_cast<int64_t>(step) - 1)));
  }
}

TEST(SynchronousShardTest, ResultSaysWhatItIsAndUnitsAreFoldedWithTheLastContribution) {
  const BucketPlan plan = PlanWithBuckets({4});
  const auto shard = MakeShard({plan, {3, 1, 1024}});
  const UnitTable::Unit& unit = shard->table().unit(1);
  EXPECT_TRUE(Take(shard.get(), RandomPush(plan, unit, 1, 0)).empty());
  Frame second = RandomPush(plan, unit, 0, 0);
  second.header.finite = false;
  EXPECT_TRUE(Take(shard.get(), std::move(second)).empty());
  EXPECT_EQ(shard->parked_frames(), 2);
  const auto results = Take(shard.get(), RandomPush(plan, unit, 2, 0));
  EXPECT_EQ(shard->parked_frames(), 0);
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].header.kind, FrameKind::kResult);
  EXPECT_EQ(results[0].header.generation, kTestGeneration);
  EXPECT_EQ(results[0].header.offset, 2u);
  EXPECT_EQ(results[0].header.elements, 1u);
  EXPECT_EQ(results[0].header.weight, 6u);  // 1 + 2 + 3
  EXPECT_FALSE(results[0].header.finite);
  EXPECT_EQ(shard->statistics().pushes, 3);
  EXPECT_EQ(shard->statistics().answers, 3);  // each worker's
}

TEST(SynchronousShardTest, NamesWhoIsMissingInTheFirstOpenBucket) {
  const BucketPlan plan = PlanWithBuckets({4, 8});
  const auto shard = MakeShard({plan, {3, 1, 1024}});
  const UnitTable& table = shard->table();
  const auto push = [&](int unit, int worker) {
    Take(shard.get(), RandomPush(plan, table.unit(unit), worker, 0));
  };
  EXPECT_FALSE(shard->somebody_waits());
  for (int unit = 0; unit < table.size(); ++unit) push(unit, 1);
  EXPECT_TRUE(shard->somebody_waits());
  EXPECT_EQ(shard->FindMissing().bucket, 0);
  EXPECT_THAT(shard->FindMissing().workers, ElementsAre(0, 2));
  for (int unit = 0; unit < table.first_of_bucket(1); ++unit) push(unit, 0), push(unit, 2);
  push(table.first_of_bucket(1), 0);
  EXPECT_EQ(Describe(shard->FindMissing()), "worker 0, worker 2 at step 0 bucket 1 (52 bytes)");
}

class ServerUpdateTest : public ::testing::Test {
 protected:
  std::unique_ptr<ParameterShard> Make(uint64_t first_step) const {
    ParameterShard::Config config{plan_, layout_, 0};
    config.first_step = first_step;
    config.policy.update_on_server = true;
    config.optimizer = update_.optimizer;
    config.learning_rate = update_.rate;
    return MakeShard(std::move(config));
  }
  std::vector<float> Step(ParameterShard* shard, uint64_t step) const {
    std::vector<float> parameters(plan_.total_elements());
    for (int unit = 0; unit < shard->table().size(); ++unit) {
      for (int worker : {1, 0}) {
        for (const auto& result :
             Take(shard, RandomPush(plan_, shard->table().unit(unit), worker, step)))
          CopyResult(plan_, result, &parameters);
      }
    }
    return parameters;
  }

  const BucketPlan plan_ = PlanWithBuckets({21, 9});
  const ShardLayout layout_{2, 1, 16};
  NamedUpdate update_ = TestUpdates()[0];
};

TEST_F(ServerUpdateTest, ASavedShardGoesOnWithTheSameBits) {
  for (const NamedUpdate& update : TestUpdates()) {
    update_ = update;
    for (uint64_t cut : {1, 2, 3, 4}) {
      const auto undisturbed = Make(0);
      EXPECT_FALSE(undisturbed->MutableState().has_value());
      for (uint64_t step = 0; step < cut; ++step) Step(undisturbed.get(), step);
      const SavedState saved(undisturbed->MutableState().value());
      EXPECT_EQ(saved.step(), cut - 1);
      const auto other = Make(cut);
      saved.RestoreTo(other.get());
      for (uint64_t step = cut; step < 6; ++step) {
        EXPECT_TRUE(SameBits(Step(undisturbed.get(), step), Step(other.get(), step)));
      }
    }
  }
}

TEST_F(ServerUpdateTest, HasNoStateWhileAStepIsHalfUpdated) {
  const auto shard = Make(0);
  Step(shard.get(), 0);
  for (int worker : {0, 1}) {
    EXPECT_TRUE(shard->MutableState().has_value());
    Take(shard.get(), RandomPush(plan_, shard->table().unit(0), worker, 1));
  }
  EXPECT_FALSE(shard->MutableState().has_value());
}

TEST_F(ServerUpdateTest, APullIsAnsweredWithTheParametersOfTheStepBefore) {
  const auto shard = Make(0);
  std::vector<ParameterShard::Result> results;
  EXPECT_EQ(shard->Push(HeaderOf(FrameKind::kPull, 1, 0), {}, &results).code(),
            absl::StatusCode::kOutOfRange);
  Step(shard.get(), 0);
  const std::vector<float> parameters = Step(shard.get(), 1);
  Take(shard.get(), RandomPush(plan_, shard->table().unit(0), 0, 2));
  std::vector<float> pulled(plan_.total_elements());
  for (const auto& result : Take(shard.get(), {HeaderOf(FrameKind::kPull, 1, 1), {}})) {
    EXPECT_EQ(result.worker, 1);
    EXPECT_EQ(result.header.step, 1u);
    CopyResult(plan_, result, &pulled);
  }
  EXPECT_TRUE(SameBits(pulled, parameters));
  const absl::Status future = shard->Push(HeaderOf(FrameKind::kPull, 1, 2), {}, &results);
  EXPECT_EQ(future.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(future.message()), HasSubstr("step 2 is"));
  EXPECT_TRUE(results.empty());
}

TEST(SynchronousShardWithoutElementsTest, ServesAndEndsAllTheSame) {
  ParameterShard::Config config{PlanWithBuckets({1, 1, 1}), {1, 2, 4}, 1};
  config.policy.update_on_server = true;
  const auto shard = MakeShard(std::move(config));
  EXPECT_FALSE(shard->somebody_waits());
  EXPECT_TRUE(Take(shard.get(), {HeaderOf(FrameKind::kPull, 0, 3), {}}).empty());
  const auto end = Take(shard.get(), {HeaderOf(FrameKind::kFinish, 0, 3), {}});
  ASSERT_EQ(end.size(), 1u);
  EXPECT_EQ(end[0].header.kind, FrameKind::kFinish);
}

}  // namespace
}  // namespace ringside
