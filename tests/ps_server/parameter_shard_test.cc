// What all modes of a shard share: creation and the end. The modes have tests of their own, and
// shard_refusals_test.cc has what is refused.
#include "ps_server/parameter_shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/ps_server/shard_frames.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

TEST(ParameterShardCreateTest, RefusesByFlag) {
  const BucketPlan plan = PlanWithBuckets({2});
  EXPECT_EQ(ParameterShard::Create({plan, {1, 3, 4}, 0}).status().code(),
            absl::StatusCode::kInvalidArgument);
  for (int shard : {-1, 2}) {
    EXPECT_EQ(ParameterShard::Create({plan, {1, 2, 4}, shard}).status().message(),
              "--shard=" + std::to_string(shard) + ": must be from 0 to 1");
  }
}

TEST(ParameterShardCreateTest, RefusesAnOptimizerOrAScheduleThatIsNotValid) {
  ParameterShard::Config config{PlanWithBuckets({8}), {1, 1, 4}, 0};
  config.full_batch = 1;
  config.policy.update_on_server = true;
  for (PsMode mode : {PsMode::kSync, PsMode::kAsync, PsMode::kSsp, PsMode::kBackup}) {
    config.policy.mode = mode;
    EXPECT_TRUE(ParameterShard::Create(config).ok());
    config.optimizer.name = "lars";
    EXPECT_THAT(std::string(ParameterShard::Create(config).status().message()),
                HasSubstr("--optimizer=lars"));
    config.optimizer.name = "sgd";
    config.learning_rate.schedule = "linear";
    EXPECT_THAT(std::string(ParameterShard::Create(config).status().message()),
                HasSubstr("linear"));
    config.learning_rate.schedule = "constant";
  }
}

TEST(ParameterShardCreateTest, TheArenasOfResultsAreWhereTheyWereAskedFor) {
  const BucketPlan plan = PlanWithBuckets({16});
  for (PsMode mode : {PsMode::kSync, PsMode::kAsync, PsMode::kSsp, PsMode::kBackup}) {
    ParameterShard::Config config{plan, {3, 2, 8}, 1};
    config.policy.mode = mode;
    config.full_batch = 1;
    config.placement = Arena::Placement::kShared;
    const auto shard = MakeShard(std::move(config));
    const std::vector<const Arena*> arenas = shard->result_arenas();
    EXPECT_EQ(arenas.size(), mode == PsMode::kSync ? 2u : 3u);  // one a parity, or one a worker
    for (const Arena* arena : arenas) EXPECT_EQ(arena->span().size(), 8u);
    // Every result lies in the arena by which its worker knows it, packed.
    for (int unit = 0; unit < shard->table().size(); ++unit) {
      for (int worker : {2, 1, 0}) {
        for (const auto& result :
             Take(shard.get(), RandomPush(plan, shard->table().unit(unit), worker, 0))) {
          const int index = mode == PsMode::kSync ? 0 : result.worker;
          EXPECT_EQ(result.owner.get(), arenas[index]);
          const int at = shard->table().Find(result.header).value();
          EXPECT_EQ(result.values.data(),
                    arenas[index]->span().data() + shard->table().unit(at).position);
        }
      }
    }
  }
}

TEST(ParameterShardFinishTest, EndsWhenEveryWorkerHasSaidSo) {
  for (PsMode mode : {PsMode::kSync, PsMode::kAsync, PsMode::kSsp, PsMode::kBackup}) {
    ParameterShard::Config config{PlanWithBuckets({8}), {3, 2, 8}, 1};
    config.policy.mode = mode;
    config.full_batch = 1;
    const auto shard = MakeShard(std::move(config));
    for (int worker : {1, 0}) {
      EXPECT_FALSE(shard->has_finished(worker));
      EXPECT_TRUE(Take(shard.get(), {HeaderOf(FrameKind::kFinish, worker, 0), {}}).empty());
      EXPECT_TRUE(shard->has_finished(worker));
      EXPECT_FALSE(shard->all_finished());
    }
    const auto results = Take(shard.get(), {HeaderOf(FrameKind::kFinish, 2, 0), {}});
    EXPECT_TRUE(shard->all_finished());
    ASSERT_FALSE(results.empty());
    EXPECT_EQ(results.back().header.kind, FrameKind::kFinish);
    EXPECT_EQ(results.back().header.generation, kTestGeneration);
    EXPECT_EQ(results.back().header.sender, 1u);
    EXPECT_EQ(results.back().header.payload_bytes(), 0);
    EXPECT_TRUE(results.back().values.empty());
    EXPECT_EQ(results.back().worker, ParameterShard::kEveryWorker);
  }
}

TEST(ParameterShardElectionTest, IsOfBackupModeAlone) {
  ParameterShard::Config config{PlanWithBuckets({8}), {3, 2, 8}, 1};
  const auto shard = MakeShard(std::move(config));
  std::vector<ParameterShard::Result> results;
  const absl::Status status = shard->Elect({4, {0, 1}}, &results);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(),
            "shard 1 was told who counts in step 4, but in its mode everybody does");
}

}  // namespace
}  // namespace ringside
