#include "experiments/model/event_simulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "experiments/model/cost_formulas.h"
#include "tests/experiments/model/sample_jobs.h"

namespace ringside {
namespace {

constexpr double kExact = 1e-9;  // relative

double Slowest(const StepJob& job, int64_t most_parts = kMostParts) {
  const auto ends = SimulateEvents(job, AllAtOnce(job), most_parts);
  EXPECT_TRUE(ends.ok()) << ends.status();
  return *std::max_element(ends->begin(), ends->end());
}

// Two latencies, two messages' alpha, N times all bytes, and the last unit to all workers.
TEST(EventSimulationTest, ServerEqualsTheFormulaOnUniformLinks) {
  for (int workers : {1, 2, 3, 4, 8}) {
    for (int units : {1, 3, 10}) {
      StepJob job = UniformServer(workers, 1, int64_t{workers} * units * 1000);
      job.unit_elements = 1000;
      const double bytes = 4.0 * static_cast<double>(job.buckets[0].elements);
      const double expected = 2 * 100e-6 + 2 * 10e-6 + workers * (bytes + 4000) / 125e6;
      EXPECT_NEAR(Slowest(job), expected, kExact * expected);
      EXPECT_NEAR(EstimateStep(job).step_s, expected, kExact * expected);
    }
  }
}

// Of a link that has rested; one that is busy has no more to give.
TEST(EventSimulationTest, ABurstPassesOnce) {
  StepJob job = UniformServer(1, 1, 100'000);
  job.unit_elements = 1000;
  const double steady = Slowest(job);
  job.network.burst_bytes = 40'000;
  EXPECT_NEAR(Slowest(job), steady - 40'000 / 125e6, 70e-6);  // and the last answer's own
}

TEST(EventSimulationTest, BucketsOverlapWithBackward) {
  StepJob job = UniformServer(2, 1, 0);
  job.unit_elements = 1000;
  job.buckets = {{2000, 0.1}, {2000, 1.0}};
  job.compute = {1, 2, 0.5, 0, false};
  const double last = 2 * 100e-6 + 2 * 10e-6 + 2 * (8000 + 4000) / 125e6;
  EXPECT_NEAR(Slowest(job), 3.5 + last, kExact);
  job.overlap = false;
  EXPECT_NEAR(Slowest(job), 3.5 + last + 2 * 8000 / 125e6, kExact);
}

// Pushes and results of a host share its card where the shard lives beside the worker.
TEST(EventSimulationTest, ColocatedShardsTakeTheirShareOfTheLink) {
  StepJob job = UniformServer(4, 4, 4'000'000);
  job.unit_elements = 10'000;
  const double dedicated = Slowest(job);
  job.placement = Placement::kColocated;
  const double colocated = Slowest(job);
  const double bytes = 16e6;
  EXPECT_GT(dedicated, bytes / 125e6);
  EXPECT_NEAR(colocated, 2.0 * 3 / 4 * bytes / 125e6, 0.1 * colocated);
  EXPECT_NEAR(colocated, EstimateStep(job).step_s, 0.1 * colocated);
}

TEST(EventSimulationTest, WorkersOfOneHostShareItsCard) {
  StepJob job = UniformServer(4, 4, 4'000'000);
  job.unit_elements = 10'000;
  const double apart = Slowest(job);
  job.workers_per_host = 4;
  EXPECT_NEAR(Slowest(job), 4 * apart, 0.1 * 4 * apart);
  EXPECT_NEAR(Slowest(job), EstimateStep(job).step_s, 0.1 * Slowest(job));
}

// All work of one machine divided by its cores, whoever does it when.
TEST(EventSimulationTest, CoresAreShared) {
  StepJob job = UniformRing(4, 1 << 20);
  job.network = {};
  job.costs = {0, 0, 0, 1e-9};
  job.one_machine = true;
  job.cores = 1;
  EXPECT_NEAR(Slowest(job), 4 * 2 * 1.5 * (4 << 20) * 1e-9, kExact);
  StepJob server = UniformServer(4, 2, 1 << 20);
  server.network = {};
  server.costs = {0, 0, 0.5e-9, 1e-9};
  server.one_machine = true;
  server.cores = 1;
  EXPECT_NEAR(Slowest(server), 4 * (4 << 20) * (4 * 1e-9 + 0.5e-9), kExact);
}

TEST(EventSimulationTest, ComputingThatHoldsACoreQueuesToo) {
  StepJob job = UniformRing(4, 4000);
  job.network = {};
  job.costs = {};
  job.one_machine = true;
  job.cores = 2;
  job.compute = {0.1, 0.2, 0.1, 0, true};
  EXPECT_NEAR(Slowest(job), 2 * 0.4, 1e-9);
  job.compute.holds_core = false;
  EXPECT_NEAR(Slowest(job), 0.3 + 2 * 0.1, 1e-9);
}

// A shard folds a unit when the last worker's part is there, and not before.
TEST(EventSimulationTest, ServerWaitsForTheLatest) {
  StepJob job = UniformServer(3, 2, 60'000);
  std::vector<RankTimes> ranks = AllAtOnce(job);
  ranks[1].start_s = 1;
  const auto ends = SimulateEvents(job, ranks);
  ASSERT_TRUE(ends.ok());
  for (double end : *ends) {
    EXPECT_GT(end, 1);
    EXPECT_LT(end, 1 + Slowest(job));
  }
}

TEST(EventSimulationTest, JoinedUnitsCostAsMuchButForThePipeline) {
  StepJob job = UniformServer(4, 2, 4'000'000);
  job.unit_elements = 10'000;
  job.costs = {20e-6, 0.3e-9, 0.1e-9, 0.5e-9};
  const double fine = Slowest(job);
  const double coarse = Slowest(job, 400);
  EXPECT_GE(coarse, fine);
  EXPECT_NEAR(coarse, fine, 0.1 * fine);
}

// Contended links, hosts and cores, for which there is no closed form: as a plain queue of events
// (every event in one heap, every waiting message in another) has them.
TEST(EventSimulationTest, ContendedStepsAreThoseOfAPlainQueueOfEvents) {
  StepJob job = UniformServer(5, 3, 0);
  job.buckets = {{70'001, 0.2}, {30'011, 0.5}, {90'007, 1}};
  job.unit_elements = 5'000;
  job.costs = {13e-6, 0.7e-9, 0.2e-9, 0.5e-9};
  std::vector<RankTimes> ranks;
  for (int rank = 0; rank < job.workers; ++rank) {
    ranks.push_back({1e-4 * rank, 2e-4, 3e-4 * ((rank * 3) % 5), 1e-5 * rank});
  }
  const auto expect_ends = [&ranks](const StepJob& of, const std::vector<double>& expected) {
    const auto ends = SimulateEvents(of, ranks);
    ASSERT_TRUE(ends.ok()) << ends.status();
    for (size_t rank = 0; rank < expected.size(); ++rank) {
      EXPECT_NEAR((*ends)[rank], expected[rank], 1e-15) << "rank " << rank;
    }
  };
  expect_ends(job, {0.01168574400000001, 0.011783272000000015, 0.01186977800000001,
                    0.011967338000000013, 0.012073370000000012});
  StepJob colocated = job;
  colocated.placement = Placement::kColocated;
  colocated.workers_per_host = 2;
  expect_ends(colocated, {0.016823808000000016, 0.016848808000000017, 0.017466976000000009,
                          0.017508976000000009, 0.01755097600000001});
  job.one_machine = true;
  job.cores = 2;
  job.compute.holds_core = true;
  expect_ends(job, {0.012849572024139555, 0.012891572024139555, 0.012994735998615801,
                    0.013075606024139557, 0.0131788019986158});
}

TEST(EventSimulationTest, RefusesWhatIsTooLarge) {
  StepJob job = Resnet50(1024);
  job.servers = true;
  job.shards = 1024;
  const auto ends = SimulateEvents(job, AllAtOnce(job));
  EXPECT_EQ(ends.status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace ringside
