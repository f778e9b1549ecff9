#include "common/shard_map.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

TEST(ShardMapTest, UnitsAreStripeCutByChunksAndSize) {
  // 10 elements, 2 workers: chunks [0,5) [5,10); 3 shards: stripes [0,4) [4,7) [7,10).
  const auto units = ShardUnits(10, 2, 3, 1, 100);
  ASSERT_EQ(units.size(), 2u);
  EXPECT_EQ(units[0].range, (ElementRange{4, 1}));
  EXPECT_EQ(units[0].chunk, 0);
  EXPECT_EQ(units[1].range, (ElementRange{5, 2}));
  EXPECT_EQ(units[1].chunk, 1);
  EXPECT_EQ(ShardUnits(10, 1, 1, 0, 4).size(), 3u);
}

TEST(ShardMapTest, AllShardsTogetherCoverEveryElementOnceWithinOneChunk) {
  for (int64_t elements : {0, 1, 2, 7, 64, 97}) {
    for (int workers = 1; workers <= 5; ++workers) {
      for (int shards = 1; shards <= 4; ++shards) {
        std::vector<int> covered(elements, 0);
        for (int shard = 0; shard < shards; ++shard) {
          for (const ShardUnit& unit : ShardUnits(elements, workers, shards, shard, 5)) {
            ASSERT_GT(unit.range.length, 0);
            ASSERT_LE(unit.range.length, 5);
            const ElementRange chunk = Part({0, elements}, workers, unit.chunk);
            ASSERT_EQ(Intersect(unit.range, chunk), unit.range);
            for (int64_t i = unit.range.begin; i < unit.range.end(); ++i) ++covered[i];
          }
        }
        EXPECT_EQ(covered, std::vector<int>(elements, 1));
      }
    }
  }
}

TEST(ShardMapTest, AShardWithoutElementsHasNoUnits) {
  EXPECT_TRUE(ShardUnits(2, 2, 3, 2, 100).empty());
}

}  // namespace
}  // namespace ringside
