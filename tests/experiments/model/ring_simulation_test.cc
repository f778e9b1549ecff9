#include "experiments/model/ring_simulation.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "experiments/model/cost_formulas.h"
#include "experiments/model/event_simulation.h"
#include "tests/experiments/model/sample_jobs.h"

namespace ringside {
namespace {

constexpr double kExact = 1e-9;  // relative

void ExpectFormula(const StepJob& job) {
  const double expected = RingBucketSeconds(job, job.buckets[0].elements);
  for (double end : SimulateRing(job, AllAtOnce(job))) {
    EXPECT_NEAR(end, expected, kExact * expected)
        << job.workers << " workers, segments of " << job.segment_elements;
  }
}

TEST(RingSimulationTest, EqualsTheFormulaOnUniformLinks) {
  for (int workers : {2, 3, 4, 7, 16}) {
    for (int segments : {1, 2, 5, 20}) {
      StepJob job = UniformRing(workers, int64_t{1000} * workers * segments);
      job.segment_elements = 1000;
      job.lookahead = segments;
      ExpectFormula(job);
      job.network.latency_s = 5e-3;  // a step waits for a segment
      ExpectFormula(job);
      job.costs.alpha_s = 2e-3;  // the thread is slower than the link
      ExpectFormula(job);
    }
  }
}

TEST(RingSimulationTest, EqualsTheFormulaWhereProcessorsAreSlow) {
  StepJob job = UniformRing(4, 4 * 8 * 1000);
  job.segment_elements = 1000;
  job.lookahead = 8;
  job.costs = {0, 0, 0, 1e-9};
  ExpectFormula(job);
}

// A hop begins when the link has rested for a latency at least.
TEST(RingSimulationTest, EqualsTheFormulaWhereLinksLetABurstPass) {
  for (double burst : {1e3, 4e3, 1e6}) {
    StepJob job = UniformRing(4, 4000);
    job.network.latency_s = 5e-3;
    const double steady = RingBucketSeconds(job, 4000);
    job.network.burst_bytes = burst;
    ExpectFormula(job);
    const double saved = 6 * std::min(burst, 4000.0) / 125e6;
    EXPECT_NEAR(RingBucketSeconds(job, 4000), steady - saved, kExact * steady);
  }
}

TEST(RingSimulationTest, BucketsFollowEachOther) {
  StepJob job = UniformRing(4, 0);
  job.buckets = {{4000, 0}, {8000, 0}, {4000, 0.5}};
  job.compute = {0, 1, 0.25, 0, false};
  const double expected = EstimateStep(job).step_s;
  for (double end : SimulateRing(job, AllAtOnce(job))) EXPECT_NEAR(end, expected, kExact);
  EXPECT_NEAR(expected, 1.25, 1e-12);  // all is hidden
}

TEST(RingSimulationTest, EqualsTheSimulationOfEvents) {
  for (int workers : {2, 3, 5, 8}) {
    for (int64_t elements : {1, 7, 1003, 40'009}) {
      for (int64_t lookahead : {1, 2, 16}) {
        StepJob job = UniformRing(workers, 0);
        job.buckets = {{elements, 0.3}, {2 * elements + 1, 0.6}, {elements, 1}};
        job.segment_elements = 701;
        job.lookahead = lookahead;
        job.costs = {13e-6, 0.7e-9, 0.2e-9, 0.5e-9};
        job.network.burst_bytes = lookahead == 2 ? 3000 : 0;
        std::vector<RankTimes> ranks;
        for (int rank = 0; rank < workers; ++rank) {
          ranks.push_back({1e-4 * rank, 2e-4, 3e-4 * ((rank * 5) % 3), 1e-5 * rank});
        }
        const std::vector<double> fast = SimulateRing(job, ranks);
        const auto events = SimulateEvents(job, ranks);
        ASSERT_TRUE(events.ok()) << events.status();
        for (int rank = 0; rank < workers; ++rank) {
          EXPECT_NEAR(fast[rank], (*events)[rank], 1e-12)
              << workers << " workers, " << elements << " elements, lookahead " << lookahead;
        }
      }
    }
  }
}

TEST(RingSimulationTest, EqualsTheSimulationOfEventsWhereRanksShareHosts) {
  StepJob job = UniformRing(6, 60'000);
  job.workers_per_host = 2;
  job.costs = {13e-6, 0.7e-9, 0.2e-9, 0.5e-9};
  const std::vector<double> fast = SimulateRing(job, AllAtOnce(job));
  const auto events = SimulateEvents(job, AllAtOnce(job));
  ASSERT_TRUE(events.ok()) << events.status();
  for (int rank = 0; rank < 6; ++rank) EXPECT_NEAR(fast[rank], (*events)[rank], 1e-12);
}

// A rank that comes late delays every other by as much, and no more.
TEST(RingSimulationTest, WaitsForTheLatest) {
  StepJob job = UniformRing(4, 4000);
  std::vector<RankTimes> ranks = AllAtOnce(job);
  const double even = SimulateRing(job, ranks)[0];
  ranks[2].start_s = 1;
  const std::vector<double> ends = SimulateRing(job, ranks);
  for (double end : ends) {
    EXPECT_GT(end, 1);
    EXPECT_LE(end, 1 + even + 1e-12);
  }
}

TEST(RingSimulationTest, OneWorkerComputesAlone) {
  StepJob job = UniformRing(1, 4000);
  job.compute = {1, 2, 3, 0, false};
  EXPECT_DOUBLE_EQ(SimulateRing(job, AllAtOnce(job))[0], 6);
}

}  // namespace
}  // namespace ringside
