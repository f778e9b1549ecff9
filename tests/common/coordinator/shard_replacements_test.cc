#include "common/coordinator/shard_replacements.h"

#include <gtest/gtest.h>

#include "common/suspects.h"

namespace ringside {
namespace {

const absl::Time kStart = absl::UnixEpoch();

TEST(ShardReplacementsTest, ToleratesNothingUnlessTold) {
  ShardReplacements none({});
  EXPECT_FALSE(none.left());
  EXPECT_FALSE(none.any());
  EXPECT_EQ(none.recovery(), 0u);
  EXPECT_FALSE(none.Overdue(absl::InfiniteFuture()).has_value());
}

TEST(ShardReplacementsTest, CountsLossesOfAllShardsTogether) {
  ShardReplacements shards({2, absl::Seconds(5)});
  EXPECT_EQ(shards.Await(ShardId(1), 17, "killed", kStart).number, 1);
  EXPECT_TRUE(shards.left());
  EXPECT_EQ(shards.Replaced(ShardId(1)), 1u);
  EXPECT_EQ(shards.Await(ShardId(0), 18, "silent", kStart).number, 2);
  EXPECT_FALSE(shards.left());
  ASSERT_NE(shards.Find(ShardId(0)), nullptr);
  EXPECT_EQ(shards.Find(ShardId(0))->step, 18);
  EXPECT_EQ(shards.Find(ShardId(0))->why, "silent");
  EXPECT_EQ(shards.Find(ShardId(1)), nullptr);
  EXPECT_EQ(shards.Replaced(ShardId(0)), 2u);
  EXPECT_EQ(shards.recovery(), 2u);
  EXPECT_FALSE(shards.any());
  EXPECT_FALSE(shards.left());
}

TEST(ShardReplacementsTest, TheEarliestLossIsOverdueFirst) {
  ShardReplacements shards({2, absl::Seconds(5)});
  shards.Await(ShardId(1), 17, "killed", kStart);
  shards.Await(ShardId(0), 17, "killed", kStart + absl::Seconds(1));
  EXPECT_FALSE(shards.Overdue(kStart + absl::Milliseconds(4999)).has_value());
  ASSERT_TRUE(shards.Overdue(kStart + absl::Seconds(5)).has_value());
  EXPECT_EQ(shards.Overdue(kStart + absl::Seconds(9))->shard.rank(), 1);
  shards.Replaced(ShardId(1));
  EXPECT_FALSE(shards.Overdue(kStart + absl::Seconds(5)).has_value());
  shards.Postpone(absl::Seconds(2));
  EXPECT_FALSE(shards.Overdue(kStart + absl::Seconds(7)).has_value());
  EXPECT_TRUE(shards.Overdue(kStart + absl::Seconds(8)).has_value());
}

TEST(ShardReplacementsTest, GivesEachNewLossOnce) {
  ShardReplacements shards({3, absl::Seconds(5)});
  EXPECT_TRUE(shards.TakeNew().empty());
  shards.Await(ShardId(2), 4, "killed", kStart);
  const auto losses = shards.TakeNew();
  ASSERT_EQ(losses.size(), 1u);
  EXPECT_EQ(losses[0].shard.rank(), 2);
  EXPECT_TRUE(shards.TakeNew().empty());
}

TEST(ShardReplacementsTest, ALossIsOpenUntilAllHaveMetAfterIt) {
  ShardReplacements replacements({3, absl::Seconds(30)});
  const absl::Time now = absl::UnixEpoch();
  EXPECT_FALSE(replacements.Unhealed().has_value());
  replacements.Await(ShardId(1), 17, "killed", now);
  replacements.Await(ShardId(0), 18, "killed too", now);
  EXPECT_EQ(replacements.Unhealed()->why, "killed");
  replacements.Replaced(ShardId(1));
  EXPECT_EQ(replacements.Unhealed()->why, "killed");
  replacements.Replaced(ShardId(0));
  EXPECT_EQ(replacements.Unhealed()->why, "killed");
  replacements.MadeGood();
  EXPECT_FALSE(replacements.Unhealed().has_value());
}

}  // namespace
}  // namespace ringside
