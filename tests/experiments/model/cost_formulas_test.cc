#include "experiments/model/cost_formulas.h"

#include <gtest/gtest.h>

#include <cmath>

#include "common/shard_map.h"
#include "tests/experiments/model/sample_jobs.h"

namespace ringside {
namespace {

TEST(CostFormulasTest, ExpectedLargestOfNormalDraws) {
  EXPECT_EQ(ExpectedLargest(1), 0);
  // Exact: 0.5642, 1.0294, 1.5388 (Harter 1961).
  EXPECT_NEAR(ExpectedLargest(2), 0.5642, 0.03);
  EXPECT_NEAR(ExpectedLargest(4), 1.0294, 0.03);
  EXPECT_NEAR(ExpectedLargest(10), 1.5388, 0.03);
  EXPECT_NEAR(ExpectedLargest(1000), 3.2414, 0.03);
}

// Thakur, Rabenseifner and Gropp 2005: 2 (N - 1) (alpha + n / N beta), with the latency in alpha.
TEST(CostFormulasTest, RingOfWholeChunksIsTheTextbooks) {
  StepJob job = UniformRing(4, 4 * 1000);
  const double hop = 10e-6 + 100e-6 + 4000 / 125e6;
  EXPECT_NEAR(RingBucketSeconds(job, 4000), 6 * hop, 1e-12);
  EXPECT_EQ(RingBucketSeconds(UniformRing(1, 4000), 4000), 0);
}

// Patarasuk and Yuan 2009: large buckets cost 2 (N - 1) / N n beta, whatever the number of ranks.
TEST(CostFormulasTest, RingOfManySegmentsIsBandwidthOptimal) {
  StepJob job = UniformRing(8, 64 << 20);
  job.segment_elements = 4 << 10;
  const double least = 2.0 * 7 / 8 * (64 << 20) * 4 / 125e6;
  EXPECT_GT(RingBucketSeconds(job, 64 << 20), least);
  EXPECT_NEAR(RingBucketSeconds(job, 64 << 20), least, 0.001 * least);
}

TEST(CostFormulasTest, UnitsAreThoseOfTheShardMap) {
  for (int workers : {1, 2, 3, 4, 8}) {
    for (int shards : {1, 2, 3, 4, 6}) {
      StepJob job = UniformServer(workers, shards, 0);
      job.unit_elements = 1 << 30;
      int64_t units = 0;
      for (int shard = 0; shard < shards; ++shard) {
        units += static_cast<int64_t>(
            ShardUnits(24'000, workers, shards, shard, job.unit_elements).size());
      }
      EXPECT_EQ(UnitsOfBucket(job, 24'000), units) << workers << " workers, " << shards;
    }
  }
  EXPECT_EQ(UnitsOfBucket(UniformServer(1, 1, 0), 1 << 20), 4);  // cut at 1 MiB
}

// Li et al. 2014: a server takes every worker's gradient through its own links.
TEST(CostFormulasTest, LinksOfAServer) {
  const double once = 1'000'000 * 4 / 125e6;
  const auto dedicated = ServerBucket(UniformServer(4, 1, 0), 1'000'000);
  EXPECT_DOUBLE_EQ(dedicated.push, 4 * once);
  EXPECT_DOUBLE_EQ(dedicated.pull, 4 * once);
  EXPECT_DOUBLE_EQ(dedicated.both, 4 * once);
  EXPECT_DOUBLE_EQ(ServerBucket(UniformServer(4, 8, 0), 1'000'000).both, once);
  // One shard a worker, each beside one: what a ring moves.
  StepJob colocated = UniformServer(4, 4, 0);
  colocated.placement = Placement::kColocated;
  EXPECT_DOUBLE_EQ(ServerBucket(colocated, 1'000'000).both, 2.0 * 3 / 4 * once);
  EXPECT_DOUBLE_EQ(ServerBucket(colocated, 1'000'000).push, 3.0 / 4 * once);
}

TEST(CostFormulasTest, PullAfterPushTakesBothTimes) {
  StepJob job = UniformServer(4, 1, 1'000'000);
  const double once = 1'000'000 * 4 / 125e6;
  job.pull_overlaps_push = false;
  EXPECT_NEAR(EstimateStep(job).step_s, 8 * once + 220e-6, 1e-9);
  job.pull_overlaps_push = true;
  EXPECT_LT(EstimateStep(job).step_s, 6 * once);
  EXPECT_GT(EstimateStep(job).step_s, 4 * once);
}

TEST(CostFormulasTest, BackwardHidesCommunication) {
  StepJob job = UniformRing(4, 0);
  job.buckets = {{1000, 0.1}, {1000, 1.0}};
  job.compute = {1, 2, 0.5, 0, false};
  const double last = RingBucketSeconds(job, 1000);
  StepEstimate estimate = EstimateStep(job);
  EXPECT_DOUBLE_EQ(estimate.backward_end_s, 3);
  EXPECT_NEAR(estimate.exposed_s, last, 1e-12);
  EXPECT_NEAR(estimate.step_s, 3.5 + last, 1e-12);
  job.overlap = false;
  EXPECT_NEAR(EstimateStep(job).step_s, 3.5 + 2 * last, 1e-12);
  job.workers = 1;
  EXPECT_DOUBLE_EQ(EstimateStep(job).step_s, 3.5);
  EXPECT_DOUBLE_EQ(Efficiency(job, 7), 0.5);
}

TEST(CostFormulasTest, RanksThatShareCoresQueueForThem) {
  StepJob job = UniformRing(4, 1 << 20);
  job.network = {};
  job.costs = {0, 0, 0, 1e-9};
  job.one_machine = true;
  const double apart = EstimateStep(job).step_s;
  job.cores = 1;
  // 2 (N - 1) / N n bytes sent and as many received by each of 4 ranks, on one core.
  EXPECT_NEAR(EstimateStep(job).step_s, 4 * 2 * 1.5 * (4 << 20) * 1e-9, 1e-9);
  EXPECT_GT(EstimateStep(job).step_s, 2 * apart);
  job.compute = {0.1, 0.2, 0.1, 0, true};
  job.buckets.clear();
  EXPECT_NEAR(EstimateStep(job).step_s, 4 * 0.4, 1e-12);
  job.compute.holds_core = false;  // sleeps
  EXPECT_NEAR(EstimateStep(job).step_s, 0.3 + 4 * 0.1, 1e-12);
}

TEST(CostFormulasTest, FailuresCostTime) {
  // Rare failures: about half an interval and a restart each.
  const double rare = ExpectedTrainingSeconds(1e6, 1e9, 1e3, 10, 60);
  EXPECT_NEAR(rare, 1e6 * 1.01 * (1 + (505 + 60) / 1e9), 1e-3 * 1e6);
  EXPECT_GT(ExpectedTrainingSeconds(1e6, 1e3, 1e3, 10, 60), 1.7e6);
}

}  // namespace
}  // namespace ringside
