#include "experiments/report/ceilings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "experiments/report/ceiling_table.h"
#include "experiments/report/comparison.h"
#include "experiments/report/gates.h"
#include "tests/experiments/report/sample_runs.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kMegabyte = 1000000;
// What a link of 100 Mbit/s lets pass at once after a pause.
constexpr int64_t kBurst = 16384;

void SetPayload(int64_t bytes_per_step, Traffic* traffic, int64_t steps) {
  traffic->set_payload_bytes_sent(bytes_per_step * steps);
  traffic->set_payload_bytes_received(bytes_per_step * steps);
}

// Every worker and step: so many bytes each way, in so many seconds of communication.
void SetWorkers(int64_t bytes_per_step, double seconds, RunResult* run) {
  for (WorkerResult& worker : *run->mutable_worker_results()) {
    SetPayload(bytes_per_step, worker.mutable_traffic(), run->total_steps());
    for (StepRecord& step : *worker.mutable_steps()) {
      step.set_hidden_comm_s(seconds / 4);
      step.set_exposed_comm_s(seconds * 3 / 4);
    }
  }
}

// From the first submission to the last sum: a quarter of it submitting.
void SetShards(int64_t bytes_per_step, double span_s, RunResult* run) {
  for (ShardResult& shard : *run->mutable_shard_results())
    SetPayload(bytes_per_step, shard.mutable_traffic(), run->total_steps());
  for (WorkerResult& worker : *run->mutable_worker_results()) {
    for (StepRecord& step : *worker.mutable_steps()) {
      step.set_first_ready_at_ns(5000);
      step.set_ready_at_ns(5000 + static_cast<int64_t>(span_s / 4 * 1e9));
      step.set_ready_s(0.06);
      step.set_optimizer_s(0.01);
      step.set_step_s(0.06 + span_s * 3 / 4 + 0.01);
    }
  }
}

RunResult MadeRun(const std::string& strategy, int shards, double bandwidth_mbit) {
  SampleRun sample;
  sample.strategy = strategy;
  sample.shards = shards;
  sample.bandwidth_mbit = bandwidth_mbit;
  return MakeRun(sample);
}

// A ring of two over links of 100 Mbit/s, whose best probe got 95: 11.875 MB/s. It has two messages
// a step, so at most two pauses.
RunResult ShapedRing(double seconds) {
  RunResult run = MadeRun("ring", 0, 100);
  SetWorkers(kMegabyte + 2 * kBurst, seconds, &run);
  return run;
}

// A ring of two processes over a link of one machine, which moves 1 GB/s.
RunResult LocalRing(const std::string& link) {
  SampleRun sample;
  sample.link = link;
  sample.is_probed = true;
  RunResult run = MakeRun(sample);
  SetWorkers(kMegabyte, 0.001, &run);
  return run;
}

absl::optional<CeilingUse> MostUsed(const RunResult& run) {
  return CeilingBook({run}).MostUsed(run);
}

TEST(CeilingsGateTest, SaysWhoCameNearest) {
  const Gate gate = CeilingsGate({ShapedRing(0.2), ShapedRing(0.1)});
  EXPECT_TRUE(gate.passed());
  EXPECT_EQ(gate.name(), "ceilings");
  EXPECT_EQ(gate.detail(),
            "a worker of ring with 2 workers moved 10.0 MB/s over a link of 11.9 MB/s: 84.2 %, "
            "which is the most");
}

TEST(CeilingsGateTest, FailsAboveTheTolerance) {
  EXPECT_TRUE(CeilingsGate({ShapedRing(0.077)}).passed());  // 109.4 %
  const Gate gate = CeilingsGate({ShapedRing(0.1), ShapedRing(0.076)});
  EXPECT_FALSE(gate.passed());
  EXPECT_EQ(gate.detail(),
            "ring, 2 workers, trial 0: a worker moved 13.2 MB/s over a link of 11.9 MB/s; above "
            "110 % of that, bytes or times are not what they are said to be");
}

TEST(CeilingsGateTest, PayloadThatTravelsInNoTimeIsImpossible) {
  const Gate gate = CeilingsGate({ShapedRing(0)});
  EXPECT_FALSE(gate.passed());
  EXPECT_THAT(gate.detail(), HasSubstr("a worker moved payload in no time over a link of 11.9"));
}

TEST(CeilingsGateTest, WithoutProbesPassesAndSaysSo) {
  RunResult old = LocalRing("tcp");
  old.clear_ceilings();
  const std::vector<std::vector<RunResult>> results = {
      {old}, {MadeRun("local", 0, 0)}, {MadeRun("ring", 0, 0), old}};
  for (const std::vector<RunResult>& runs : results) {
    EXPECT_TRUE(CeilingsGate(runs).passed());
    EXPECT_EQ(CeilingsGate(runs).detail(), "not probed");
  }
}

TEST(CeilingsTest, TheLongestRankOfEachStepCounts) {
  RunResult run = ShapedRing(0.1);
  for (StepRecord& step : *run.mutable_worker_results(0)->mutable_steps()) {
    step.set_hidden_comm_s(0);
    step.set_exposed_comm_s(0.01);  // came last: what the other sent was there already
  }
  EXPECT_NEAR(MostUsed(run)->bytes_per_s, 10e6, 1);
}

TEST(CeilingsTest, WarmupDoesNotCount) {
  RunResult run = ShapedRing(0.1);
  for (WorkerResult& worker : *run.mutable_worker_results()) {
    for (StepRecord& step : *worker.mutable_steps()) {
      if (step.step() <= run.warmup_steps()) step.set_exposed_comm_s(9);
    }
  }
  EXPECT_NEAR(MostUsed(run)->bytes_per_s, 10e6, 1);
  run.set_warmup_steps(run.total_steps());
  EXPECT_FALSE(MostUsed(run).has_value());
}

TEST(CeilingsTest, ALinkLetsSomethingPassAtOnceAfterEachPause) {
  RunResult run = MadeRun("ring", 0, 100);
  SetWorkers(2 * kBurst, 1e-6, &run);
  EXPECT_FALSE(MostUsed(run).has_value());
  SetWorkers(2 * kBurst + 1000, 1e-3, &run);
  EXPECT_NEAR(MostUsed(run)->bytes_per_s, 1e6, 1);
  // As many pauses as there may be buckets: 4,000 bytes in buckets of 8,000 make two and a half.
  (*run.mutable_settings())["bucket_bytes"] = "8000";
  for (WorkerResult& worker : *run.mutable_worker_results())
    worker.mutable_traffic()->set_messages_sent(100 * run.total_steps());
  SetWorkers(kBurst * 5 / 2 + 1000, 1e-3, &run);
  EXPECT_NEAR(MostUsed(run)->bytes_per_s, 1e6, 1);
}

TEST(CeilingsTest, TheBestProbeOfALinkCountsButNotMoreThanWasAskedFor) {
  RunResult run = ShapedRing(0.1);
  run.mutable_network()->mutable_probes(0)->set_bandwidth_mbit(70);
  EXPECT_NEAR(MostUsed(run)->ceiling_bytes_per_s, 11.85e6, 1);  // the other got 94.8
  EXPECT_NEAR(CeilingBook({run, ShapedRing(0.1)}).MostUsed(run)->ceiling_bytes_per_s, 11.875e6, 1);
  run.mutable_network()->mutable_probes(0)->set_bandwidth_mbit(106);
  EXPECT_NEAR(MostUsed(run)->ceiling_bytes_per_s, 12.5e6, 1);
  // All far below: the machine was busy, which says nothing of the link.
  for (LinkProbe& probe : *run.mutable_network()->mutable_probes()) probe.set_bandwidth_mbit(70);
  EXPECT_NEAR(MostUsed(run)->ceiling_bytes_per_s, 12.5e6, 1);
  // A link without a bandwidth has no ceiling but the machine.
  run.mutable_network()->set_bandwidth_mbit(0);
  EXPECT_FALSE(MostUsed(run).has_value());
}

TEST(CeilingsTest, AShardMovesWhatAllWorkersDo) {
  RunResult run = MadeRun("ps", 1, 100);
  SetWorkers(kMegabyte, 0.2, &run);
  EXPECT_EQ(MostUsed(run)->process, "worker");  // nothing tells when buckets were submitted
  SetShards(2 * kMegabyte + kBurst, 0.2, &run);
  EXPECT_EQ(MostUsed(run)->process, "shard");
  EXPECT_NEAR(MostUsed(run)->bytes_per_s, 10e6, 1);
  // Where workers take turns, none has waited for all that a shard moved.
  RunResult async = MadeRun("ps async", 1, 100);
  SetWorkers(kMegabyte, 0.2, &async);
  SetShards(2 * kMegabyte, 0.1, &async);
  EXPECT_EQ(MostUsed(async)->process, "worker");
}

TEST(CeilingsTest, WhatStaysWithinAHostDoesNotCount) {
  RunResult run = MadeRun("ps", 2, 100);
  (*run.mutable_settings())["placement"] = "colocated";
  SetWorkers(kMegabyte, 0.2, &run);
  // Half of a worker's payload is for the shard beside it, and half of a shard's for that worker.
  SetShards(kMegabyte, 0.1, &run);
  EXPECT_EQ(MostUsed(run)->process, "host");
  EXPECT_NEAR(MostUsed(run)->bytes_per_s, (kMegabyte - kBurst) / 0.1, 1);
}

TEST(CeilingsTest, OfOneMachineAreThoseOfTheTransport) {
  for (const auto& [link, over, ceiling] :
       {std::tuple("tcp", "loopback TCP", 2e9), std::tuple("uds", "Unix sockets", 3e9),
        std::tuple("shm", "shared memory", 40e9)}) {
    const RunResult run = LocalRing(link);
    ASSERT_TRUE(MostUsed(run).has_value()) << link;
    EXPECT_EQ(MostUsed(run)->over, over);
    EXPECT_NEAR(MostUsed(run)->ceiling_bytes_per_s, ceiling, 1);
    EXPECT_NEAR(MostUsed(run)->bytes_per_s, 1e9, 1);
  }
  RunResult mixed = LocalRing("uds");
  (*mixed.mutable_worker_results(0)->mutable_process()->mutable_facts())["left_link"] = "tcp";
  EXPECT_EQ(MostUsed(mixed)->over, "Unix sockets");
  EXPECT_FALSE(MostUsed(LocalRing("pigeons")).has_value());
}

TEST(CeilingsTest, SeveralConnectionsCanDoMoreOnSeveralCores) {
  SampleRun sample;
  sample.strategy = "ps";
  sample.shards = 3;
  sample.is_probed = true;
  RunResult run = MakeRun(sample);
  EXPECT_NEAR(MostUsed(run)->ceiling_bytes_per_s, 2e9, 1);  // two cores keep one busy
  run.mutable_ceilings()->set_cores(5);
  EXPECT_NEAR(MostUsed(run)->ceiling_bytes_per_s, 5e9, 1);
  run.mutable_ceilings()->set_cores(64);
  EXPECT_NEAR(MostUsed(run)->ceiling_bytes_per_s, 6e9, 1);
}

TEST(CeilingsTest, TheBestOfSeveralLaunchesOfOneMachineCounts) {
  const RunResult run = LocalRing("tcp");
  RunResult other = run;
  other.mutable_ceilings()->mutable_tcp()->set_bytes_per_s(2.5e9);
  EXPECT_NEAR(CeilingBook({run, other}).MostUsed(run)->ceiling_bytes_per_s, 2.5e9, 1);
  other.mutable_worker_results(0)->mutable_process()->set_hostname("bench-02");
  EXPECT_NEAR(CeilingBook({run, other}).MostUsed(run)->ceiling_bytes_per_s, 2e9, 1);
}

TEST(CeilingsTest, RunsWhosePayloadIsNotThatOfTheirStepsAreLeftOut) {
  RunResult lossy = LocalRing("tcp");
  (*lossy.mutable_worker_results(0)->mutable_process()->mutable_facts())["recoveries"] = "1";
  EXPECT_FALSE(MostUsed(lossy).has_value());
  SampleRun backup;
  backup.strategy = "ps backup 1";
  backup.is_probed = true;
  EXPECT_FALSE(MostUsed(MakeRun(backup)).has_value());
}

TEST(CeilingTableTest, HasARowForEachCellAndASentenceForEachMachine) {
  SampleRun local;
  local.strategy = "local";
  const ComparisonResult comparison = BuildComparison(
      {LocalRing("tcp"), MakeRun(local), MadeRun("ps", 1, 0)}, {}, SampleProvenance());
  const Table table = CeilingTable(comparison);
  ASSERT_EQ(table.rows.size(), 1u);
  std::vector<std::string> texts;
  for (const Field& field : table.rows[0]) texts.push_back(field.text);
  EXPECT_THAT(texts, ElementsAre("2", "ring", "worker", "loopback TCP", "2.00 GB/s", "1.00 GB/s",
                                 "50.0 %"));
  EXPECT_EQ(table.rows[0].back().kind, Field::Kind::kPass);
  EXPECT_THAT(
      CeilingSentences(comparison),
      ElementsAre("Probed before the first run on bench-01: TCP over loopback 2.00 GB/s each way "
                  "at once, a byte there and back in 20.0 µs; a Unix socket 3.00 GB/s each way at "
                  "once, a byte there and back in 15.0 µs; memory, one core: 10.0 GB/s copied or "
                  "8.00 GB/s added; all 2 cores: 16.0 GB/s copied or 13.0 GB/s added; within its "
                  "cache, one core copies 40.0 GB/s."));
  const ComparisonResult old = BuildComparison({MakeRun({})}, {}, SampleProvenance());
  EXPECT_TRUE(CeilingTable(old).empty());
  EXPECT_THAT(CeilingSentences(old), IsEmpty());
}

}  // namespace
}  // namespace ringside
