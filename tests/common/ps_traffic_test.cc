#include "common/ps_traffic.h"

#include <gtest/gtest.h>

#include "tests/testing/random_gradients.h"

namespace ringside {
namespace {

TEST(PsTrafficTest, OneFrameEachWayWhereEverythingFits) {
  const TrafficCounters worker = PsWorkerTraffic(PlanWithBuckets({100}), {1, 1, 400}, 3);
  EXPECT_EQ(worker.payload_bytes_sent, 1200);
  EXPECT_EQ(worker.payload_bytes_received, 1200);
  EXPECT_EQ(worker.messages_sent, 3);
  EXPECT_EQ(worker.messages_received, 3);
  EXPECT_EQ(worker.header_bytes_sent, 192);
  EXPECT_EQ(worker.header_bytes_received, 192);
}

TEST(PsTrafficTest, AgreesWithTheUnitsAndAddsUpOverShards) {
  const BucketPlan plan = PlanWithBuckets({97, 1, 2, 64, 3});
  for (int workers = 1; workers <= 5; ++workers) {
    for (int shards = 1; shards <= 4; ++shards) {
      for (int64_t frame_bytes : {4, 28, 1024}) {
        const ShardLayout layout{workers, shards, frame_bytes};
        TrafficCounters over_shards;
        for (int shard = 0; shard < shards; ++shard) {
          const UnitTable table(plan, layout, shard);
          const TrafficCounters counted = PsShardTraffic(plan, layout, shard, 2);
          EXPECT_EQ(counted.messages_received, int64_t{2} * workers * table.size());
          EXPECT_EQ(counted.payload_bytes_received, 2 * workers * table.elements() * 4);
          EXPECT_EQ(counted.messages_sent, counted.messages_received);
          over_shards += counted;
        }
        TrafficCounters over_workers;
        for (int worker = 0; worker < workers; ++worker)
          over_workers += PsWorkerTraffic(plan, layout, 2);
        EXPECT_EQ(over_shards, over_workers);
        EXPECT_EQ(over_workers.payload_bytes_sent, 2 * workers * plan.total_elements() * 4);
      }
    }
  }
}

}  // namespace
}  // namespace ringside
