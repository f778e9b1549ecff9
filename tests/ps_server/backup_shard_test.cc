#include "ps_server/backup_shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/ps_server/shard_frames.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using Election = ParameterShard::Election;

// Three workers of which two count, one bucket of two units a shard, two shards.
class BackupPairTest : public ::testing::Test {
 protected:
  std::unique_ptr<ParameterShard> Make(int shard, uint64_t first_step = 1) const {
    ParameterShard::Config config{plan_, layout_, shard};
    config.first_step = first_step;
    config.policy.mode = PsMode::kBackup;
    config.policy.backup_workers = 1;
    config.full_batch = 12;
    config.optimizer.momentum = 0.5;
    return MakeShard(std::move(config));
  }
  size_t Push(ParameterShard* shard, int worker, int unit, uint64_t step = 1) const {
    return Take(shard, RandomPush(plan_, shard->table().unit(unit), worker, step)).size();
  }
  absl::StatusCode Elect(ParameterShard* shard, Election election) const {
    std::vector<ParameterShard::Result> results;
    const absl::Status status = shard->Elect(election, &results);
    EXPECT_TRUE(status.ok() || results.empty());
    return status.code();
  }

  const BucketPlan plan_ = PlanWithBuckets({6});
  const ShardLayout layout_{3, 2, 4};
};

TEST_F(BackupPairTest, AWrongElectionIsRefusedAndChangesNothing) {
  const auto shard = Make(1);
  for (const Election& election : {Election{1, {0}}, Election{1, {0, 1, 2}}, Election{1, {1, 1}},
                                   Election{1, {1, 0}}, Election{1, {0, 3}}, Election{1, {-1, 0}},
                                   Election{1, {}}, Election{0, {0, 1}}, Election{2, {0, 1}}}) {
    EXPECT_EQ(Elect(shard.get(), election), absl::StatusCode::kFailedPrecondition);
  }
  EXPECT_EQ(Elect(shard.get(), {1, {0, 2}}), absl::StatusCode::kOk);
  EXPECT_EQ(Elect(shard.get(), {1, {0, 1}}), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Push(shard.get(), 0, 0), 0u);
  EXPECT_EQ(Push(shard.get(), 1, 0), 0u);
  EXPECT_EQ(Push(shard.get(), 2, 0), 3u);
  EXPECT_EQ(Elect(Make(0).get(), {1, {0, 1}}), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Elect(Make(1, 0).get(), {0, {0, 1}}), absl::StatusCode::kFailedPrecondition);
}

TEST_F(BackupPairTest, NamesOnlyWhoIsWaitedFor) {
  const auto shard = Make(1);
  ASSERT_EQ(shard->table().size(), 3);
  EXPECT_THAT(shard->FindMissing().workers, ElementsAre(0, 1, 2));
  for (int unit = 0; unit < 3; ++unit) Push(shard.get(), 0, unit), Push(shard.get(), 1, unit);
  EXPECT_TRUE(shard->somebody_waits());
  EXPECT_TRUE(shard->FindMissing().workers.empty());  // for shard 0's word
  EXPECT_EQ(Elect(shard.get(), {1, {0, 2}}), absl::StatusCode::kOk);
  EXPECT_THAT(shard->FindMissing().workers, ElementsAre(2));
}

TEST_F(BackupPairTest, WhatComesAfterTheUpdateOfItsUnitIsNotKept) {
  const auto shard = Make(1);
  Elect(shard.get(), {1, {0, 2}});
  Push(shard.get(), 0, 0), Push(shard.get(), 2, 0);
  EXPECT_FALSE(shard->MutableState().has_value());  // half of the step
  EXPECT_EQ(Push(shard.get(), 1, 0), 1u);
  EXPECT_EQ(shard->parked_frames(), 0);
  EXPECT_EQ(shard->statistics().late_pushes, 1);
  Push(shard.get(), 1, 1);
  EXPECT_EQ(shard->statistics().late_pushes, 1);
}

TEST_F(BackupPairTest, APullWaitsForItsStep) {
  const auto shard = Make(1);
  EXPECT_EQ(Take(shard.get(), {HeaderOf(FrameKind::kPull, 1, 0), {}}).size(), 3u);
  EXPECT_TRUE(Take(shard.get(), {HeaderOf(FrameKind::kPull, 1, 1), {}}).empty());
  EXPECT_TRUE(shard->somebody_waits());
  std::vector<ParameterShard::Result> results;
  EXPECT_EQ(shard->Push(HeaderOf(FrameKind::kPull, 1, 1), {}, &results).code(),
            absl::StatusCode::kAlreadyExists);
  Elect(shard.get(), {1, {0, 2}});
  for (int unit = 0; unit < 3; ++unit) {
    Push(shard.get(), 0, unit);
    EXPECT_EQ(Push(shard.get(), 2, unit), unit < 2 ? 2u : 5u);
  }
  EXPECT_FALSE(shard->somebody_waits());
}

TEST_F(BackupPairTest, ASavedShardGoesOnWithTheSameBits) {
  const auto undisturbed = Make(0, 0);
  const auto step = [&](ParameterShard* shard, uint64_t at) {
    std::vector<float> parameters(plan_.total_elements());
    for (int unit = 0; unit < shard->table().size(); ++unit) {
      for (int worker : {2, 0, 1}) {
        if (worker == 1 && at % 2 == 1) continue;
        for (const auto& result :
             Take(shard, RandomPush(plan_, shard->table().unit(unit), worker, at)))
          CopyResult(plan_, result, &parameters);
      }
    }
    return parameters;
  };
  EXPECT_FALSE(undisturbed->MutableState().has_value());
  for (uint64_t at = 0; at < 3; ++at) step(undisturbed.get(), at);
  const SavedState saved(undisturbed->MutableState().value());
  EXPECT_EQ(saved.step(), 2u);
  const auto other = Make(0, 3);
  saved.RestoreTo(other.get());
  for (uint64_t at = 3; at < 8; ++at) {
    EXPECT_TRUE(SameBits(step(undisturbed.get(), at), step(other.get(), at)));
  }
}

TEST(BackupShardWithoutElementsTest, FollowsAllTheSame) {
  ParameterShard::Config config{PlanWithBuckets({1, 1, 1}), {2, 2, 4}, 1};
  config.policy.mode = PsMode::kBackup;
  config.policy.backup_workers = 1;
  config.full_batch = 2;
  const auto shard = MakeShard(std::move(config));
  std::vector<ParameterShard::Result> results;
  for (uint64_t step : {1, 2, 3}) EXPECT_TRUE(shard->Elect({step, {1}}, &results).ok());
  EXPECT_FALSE(shard->Elect({4, {2}}, &results).ok());
  EXPECT_TRUE(Take(shard.get(), {HeaderOf(FrameKind::kPull, 0, 9), {}}).empty());
  EXPECT_FALSE(shard->somebody_waits());
  EXPECT_TRUE(results.empty());
}

TEST(BackupShardCreateTest, RefusesByFlag) {
  ParameterShard::Config config{PlanWithBuckets({8}), {2, 1, 4}, 0};
  config.policy.mode = PsMode::kBackup;
  EXPECT_EQ(ParameterShard::Create(config).status().message(),
            "a full batch of 0 samples: must be at least 1");
  config.full_batch = 1;
  for (int backups : {-1, 2}) {
    config.policy.backup_workers = backups;
    EXPECT_EQ(
        ParameterShard::Create(config).status().message(),
        "--backup_workers=" + std::to_string(backups) + ": must be from 0 to 1 with 2 workers");
  }
}

}  // namespace
}  // namespace ringside
