#include "experiments/report/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "experiments/report/run_samples.h"
#include "experiments/report/series.h"
#include "tests/experiments/report/sample_runs.h"

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Runs of `strategy` with 4 workers whose trials take these seconds a step.
std::vector<RunResult> Runs(const std::string& strategy, const std::vector<double>& step_seconds,
                            int workers = 4) {
  std::vector<RunResult> runs;
  for (size_t i = 0; i < step_seconds.size(); ++i) {
    SampleRun sample;
    sample.strategy = strategy;
    sample.workers = workers;
    sample.batch_size = 128 / workers;
    sample.trial = static_cast<int64_t>(i);
    sample.step_s = step_seconds[i];
    runs.push_back(MakeRun(sample));
  }
  return runs;
}

std::vector<RunResult> Together(std::vector<RunResult> a, const std::vector<RunResult>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

ComparisonResult Compare(const std::vector<RunResult>& runs) {
  return BuildComparison(runs, SampleCommand(), SampleProvenance());
}

TEST(ComparisonTest, AClearDifference) {
  const ComparisonResult comparison =
      Compare(Together(Runs("ps", {0.012, 0.012, 0.012}), Runs("ring", {0.008, 0.008, 0.008})));
  EXPECT_TRUE(AllGatesPassed(comparison));
  EXPECT_THAT(
      comparison.verdict(),
      ElementsAre("4 workers: ring is 1.50 times as fast as ps (95 % interval 1.50 to 1.50); "
                  "oversubscribed cores, 6 threads on 2 cores"));
  ASSERT_EQ(comparison.contrasts_size(), 1);
  EXPECT_TRUE(comparison.contrasts(0).significant());
  EXPECT_EQ(comparison.contrasts(0).faster(), "ring");
}

TEST(ComparisonTest, ADifferenceInsideTheNoise) {
  const ComparisonResult comparison =
      Compare(Together(Runs("ps", {0.010, 0.012, 0.011}), Runs("ring", {0.011, 0.010, 0.0105})));
  EXPECT_THAT(comparison.verdict(0),
              StartsWith("4 workers: no significant difference between ps and ring (ratio 1.05, "
                         "95 % interval 0."));
  EXPECT_FALSE(comparison.contrasts(0).significant());
}

TEST(ComparisonTest, OneTrialIsNotEnoughToTell) {
  const ComparisonResult comparison = Compare(Together(Runs("ps", {0.012}), Runs("ring", {0.008})));
  EXPECT_THAT(comparison.verdict(), ElementsAre("4 workers: ps took 1.50 times as long a step as "
                                                "ring, but one trial is not enough to tell; "
                                                "oversubscribed cores, 6 threads on 2 cores"));
  EXPECT_FALSE(comparison.contrasts(0).significant());
}

TEST(ComparisonTest, AFailedGateLeavesNoVerdict) {
  std::vector<RunResult> runs = Together(Runs("ps", {0.012, 0.012}), Runs("ring", {0.008, 0.008}));
  runs[2].mutable_worker_results(1)->set_parameters_sha256(std::string(64, 'b'));
  runs[0].mutable_worker_results(0)->mutable_traffic()->set_messages_sent(1);
  const ComparisonResult comparison = Compare(runs);
  EXPECT_FALSE(AllGatesPassed(comparison));
  EXPECT_THAT(comparison.verdict(),
              ElementsAre("4 workers: no verdict: failed the gates equivalence, traffic"));
}

TEST(ComparisonTest, TheOracleIsNoContender) {
  const ComparisonResult comparison =
      Compare(Together(Runs("ring", {0.010, 0.010}), Runs("local", {0.001, 0.001})));
  EXPECT_EQ(comparison.contrasts_size(), 0);
  EXPECT_THAT(comparison.verdict(),
              ElementsAre("4 workers: ring alone, 12,800 samples/s (median step 10.0 ms); "
                          "nothing to compare it with; oversubscribed cores, 4 threads on 2 "
                          "cores"));
  EXPECT_EQ(comparison.cells(1).strategy(), "local");
  EXPECT_EQ(comparison.cells(1).baseline_workers(), 0);
}

TEST(ComparisonTest, ASingleRun) {
  const ComparisonResult comparison = Compare(Runs("ps", {0.010}, 2));
  EXPECT_TRUE(AllGatesPassed(comparison));
  EXPECT_EQ(comparison.cells_size(), 1);
  EXPECT_THAT(comparison.verdict(0), StartsWith("2 workers: ps alone, 12,800 samples/s"));
}

TEST(ComparisonTest, TheOracleAlone) {
  EXPECT_THAT(Compare(Runs("local", {0.010})).verdict(0),
              StartsWith("4 workers: local alone, 12,800 samples/s"));
}

TEST(ComparisonTest, ARingOfOneSendsNothing) {
  const ComparisonResult comparison =
      Compare(Together(Runs("ps", {0.012, 0.012}, 1), Runs("ring", {0.010, 0.010}, 1)));
  EXPECT_TRUE(AllGatesPassed(comparison));
  EXPECT_THAT(
      comparison.verdict(),
      ElementsAre("1 worker: ring is 1.20 times as fast as ps (95 % interval 1.20 to 1.20); "
                  "a ring of one sends nothing; oversubscribed cores, 3 threads on 2 cores"));
}

TEST(ComparisonTest, NoRunAtAll) {
  const ComparisonResult comparison = Compare({});
  EXPECT_FALSE(AllGatesPassed(comparison));
  EXPECT_THAT(comparison.verdict(), ElementsAre("no verdict: there is no run"));
}

TEST(ComparisonTest, AStepIsOverWhenItsSlowestRankIs) {
  std::vector<RunResult> runs = Runs("ring", {0.010}, 2);
  for (StepRecord& step : *runs[0].mutable_worker_results(1)->mutable_steps())
    step.set_step_s(0.020);
  EXPECT_EQ(Compare(runs).cells(0).step_s().median(), 0.020);
}

TEST(ComparisonTest, WarmUpIsLeftOut) {
  std::vector<RunResult> runs = Runs("ring", {0.010}, 2);
  for (WorkerResult& worker : *runs[0].mutable_worker_results()) {
    for (int i = 0; i < 10; ++i) worker.mutable_steps(i)->set_step_s(100);
  }
  const Cell cell = Compare(runs).cells(0);
  EXPECT_EQ(cell.counted_steps(), 20);
  EXPECT_EQ(cell.p99_step_s(), 0.010);
  EXPECT_DOUBLE_EQ(cell.mean_step().step_s(), 0.010);
}

TEST(ComparisonTest, NothingIsMadeUpWhereTheWarmUpCoversTheRun) {
  SampleRun sample;
  sample.steps = 5;
  const ComparisonResult comparison = Compare({MakeRun(sample)});
  EXPECT_EQ(comparison.cells(0).counted_steps(), 0);
  EXPECT_EQ(comparison.cells(0).samples_per_s().median(), 0);
  EXPECT_THAT(comparison.warnings(),
              Contains(HasSubstr("the warm-up covers every step of ring with 2 workers")));
  EXPECT_THAT(comparison.verdict(0), HasSubstr("there are no counted steps"));
}

TEST(ComparisonTest, SpeedUpAndEfficiencyReferToTheSmallestNumberOfWorkers) {
  const ComparisonResult comparison =
      Compare(Together(Runs("ring", {0.010, 0.010}, 2), Runs("ring", {0.008, 0.008}, 4)));
  const Cell& two = comparison.cells(0);
  const Cell& four = comparison.cells(1);
  EXPECT_EQ(two.baseline_workers(), 2);
  EXPECT_DOUBLE_EQ(two.efficiency(), 1);
  EXPECT_EQ(four.baseline_workers(), 2);
  EXPECT_DOUBLE_EQ(four.speed_up(), 1.25);
  EXPECT_DOUBLE_EQ(four.efficiency(), 0.625);
  EXPECT_DOUBLE_EQ(four.samples_per_s().median(), 16000);
  EXPECT_NEAR(four.sustained_samples_per_s(), 16000, 1e-6);
}

TEST(ComparisonTest, TheBreakdownAddsUpWhateverWasRecorded) {
  std::vector<RunResult> runs = Runs("ring", {0.010}, 2);
  for (StepRecord& step : *runs[0].mutable_worker_results(0)->mutable_steps()) step.set_other_s(77);
  const StepRecord mean = Compare(runs).cells(0).mean_step();
  EXPECT_DOUBLE_EQ(mean.data_s() + mean.forward_s() + mean.backward_s() + mean.exposed_comm_s() +
                       mean.optimizer_s() + mean.other_s(),
                   mean.step_s());
}

TEST(ComparisonTest, HiddenCommunicationIsAveragedAndIsNoPartOfTheStep) {
  std::vector<RunResult> runs = Runs("ring", {0.010}, 2);
  for (StepRecord& step : *runs[0].mutable_worker_results(0)->mutable_steps())
    step.set_hidden_comm_s(0.002);
  for (StepRecord& step : *runs[0].mutable_worker_results(1)->mutable_steps())
    step.set_hidden_comm_s(0.004);
  const StepRecord mean = Compare(runs).cells(0).mean_step();
  EXPECT_NEAR(mean.hidden_comm_s(), 0.003, 1e-12);
  EXPECT_DOUBLE_EQ(mean.data_s() + mean.forward_s() + mean.backward_s() + mean.exposed_comm_s() +
                       mean.optimizer_s() + mean.other_s(),
                   mean.step_s());
}

TEST(ComparisonTest, DirectIsASeriesBetweenTheRingAndTheOthers) {
  std::vector<RunResult> runs = Runs("local", {0.010, 0.010});
  for (const char* strategy : {"gloo", "direct", "ring", "ps"})
    runs = Together(runs, Runs(strategy, {0.010, 0.010}));
  const ComparisonResult comparison = Compare(runs);
  std::vector<std::string> strategies;
  for (const Cell& cell : comparison.cells()) strategies.push_back(cell.strategy());
  EXPECT_THAT(strategies, ElementsAre("ps", "ring", "direct", "gloo", "local"));
  const SeriesNames names({comparison.cells().begin(), comparison.cells().end()});
  EXPECT_THAT(names.all(), ElementsAre("ps", "ring", "direct", "gloo", "local"));
  EXPECT_NE(names.Colour("direct"), names.Colour("ring"));
  EXPECT_NE(names.Colour("direct"), names.Colour("gloo"));
}

TEST(ComparisonTest, DirectAgainstServers) {
  const ComparisonResult comparison =
      Compare(Together(Runs("ps", {0.012, 0.012}), Runs("direct", {0.008, 0.008})));
  EXPECT_TRUE(AllGatesPassed(comparison));
  EXPECT_THAT(
      comparison.verdict(),
      ElementsAre("4 workers: direct is 1.50 times as fast as ps (95 % interval 1.50 to 1.50); "
                  "oversubscribed cores, 6 threads on 2 cores"));
}

TEST(ComparisonTest, CellsTellTheirTransport) {
  std::vector<RunResult> runs = Together(Runs("ps", {0.01}), Runs("ring", {0.01}));
  runs = Together(runs, Runs("local", {0.01}));
  (*runs[1].mutable_worker_results(3)->mutable_process()->mutable_facts())["left_link"] = "shm";
  ComparisonResult comparison = Compare(runs);
  EXPECT_EQ(comparison.cells(0).transport(), "grpc");
  EXPECT_EQ(comparison.cells(1).transport(), "shm+tcp");
  EXPECT_EQ(comparison.cells(2).transport(), "");
  // A ring of one has no link, and older results do not tell.
  EXPECT_EQ(Compare(Runs("ring", {0.01}, 1)).cells(0).transport(), "");
}

TEST(ComparisonTest, CvIsThatOfTheTrialsMedians) {
  const ComparisonResult comparison = Compare(Runs("ring", {0.002, 0.004, 0.006}));
  EXPECT_DOUBLE_EQ(comparison.cells(0).cv(), 0.5);
  EXPECT_THAT(comparison.warnings(),
              Contains(AllOf(StartsWith("Noisy"), HasSubstr("ring with 4 workers (50.0 %)"))));
}

TEST(ComparisonTest, SeveralNumbersOfShardsAreSeriesOfTheirOwn) {
  std::vector<RunResult> runs = Runs("ps", {0.010, 0.010});
  for (int trial = 0; trial < 2; ++trial) {
    SampleRun sample;
    sample.strategy = "ps";
    sample.workers = 4;
    sample.batch_size = 32;
    sample.shards = 3;
    sample.trial = trial;
    sample.step_s = 0.005;
    runs.push_back(MakeRun(sample));
  }
  const ComparisonResult comparison = Compare(runs);
  EXPECT_EQ(comparison.cells_size(), 2);
  EXPECT_THAT(comparison.verdict(0),
              HasSubstr("ps (3 shards) is 2.00 times as fast as ps (2 shards)"));
}

TEST(ComparisonTest, ModesOfAParameterServerAreSeriesOfTheirOwn) {
  std::vector<RunResult> runs;
  for (const char* strategy : {"ring", "ps ssp 3", "ps async", "ps server-update", "ps"})
    runs = Together(runs, Runs(strategy, {0.010, 0.010}));
  const ComparisonResult comparison = Compare(runs);
  std::vector<std::string> strategies;
  for (const Cell& cell : comparison.cells()) strategies.push_back(cell.strategy());
  EXPECT_THAT(strategies, ElementsAre("ps", "ps async", "ps server-update", "ps ssp 3", "ring"));
  const SeriesNames names({comparison.cells().begin(), comparison.cells().end()});
  std::set<std::string> colours;
  for (const std::string& series : names.all()) colours.insert(names.Colour(series));
  EXPECT_EQ(colours.size(), 5u);
}

TEST(ComparisonTest, TransportsOfAParameterServerAreSeriesOfTheirOwn) {
  std::vector<RunResult> runs = Runs("ps", {0.010, 0.010});
  for (int trial = 0; trial < 2; ++trial) {
    SampleRun sample;
    sample.strategy = "ps";
    sample.workers = 4;
    sample.batch_size = 32;
    sample.trial = trial;
    sample.step_s = 0.005;
    sample.link = "shm";
    runs.push_back(MakeRun(sample));
  }
  const ComparisonResult comparison = Compare(runs);
  ASSERT_EQ(comparison.cells_size(), 2);
  EXPECT_EQ(comparison.cells(0).transport(), "grpc");
  EXPECT_EQ(comparison.cells(1).transport(), "shm");
  EXPECT_EQ(comparison.cells(1).trials(), 2);
  EXPECT_THAT(comparison.verdict(0),
              HasSubstr("ps over shm is 2.00 times as fast as ps over grpc"));
}

TEST(ComparisonTest, AnAsynchronousStepHasTheRanksRatesTogether) {
  SampleRun sample;
  sample.strategy = "ps async";
  sample.workers = 2;
  sample.batch_size = 64;
  RunResult run = MakeRun(sample);
  // 64 samples in 10 ms and 64 in 30 ms: 8,533 samples/s.
  for (StepRecord& step : *run.mutable_worker_results(0)->mutable_steps()) step.set_step_s(0.010);
  for (StepRecord& step : *run.mutable_worker_results(1)->mutable_steps()) step.set_step_s(0.030);
  const ComparisonResult comparison = Compare({run});
  EXPECT_NEAR(comparison.cells(0).samples_per_s().median(), 64 / 0.010 + 64 / 0.030, 1e-6);
  EXPECT_NEAR(comparison.cells(0).step_s().median(), 0.015, 1e-12);
}

TEST(ComparisonTest, OnlyTheSamplesThatCountAreThoseOfABackupStep) {
  SampleRun sample;
  sample.strategy = "ps backup 1";
  sample.workers = 4;
  sample.batch_size = 32;
  sample.step_s = 0.010;
  RunResult run = MakeRun(sample);
  const double loss = StepSamples(run)[4].loss;
  run.mutable_worker_results(3)->mutable_steps()->DeleteSubrange(4, 1);
  EXPECT_EQ(StepSamples(run)[4].global_samples, 96);
  EXPECT_NEAR(StepSamples(run)[4].loss, loss, 1e-12);  // all ranks have the same part of it
  EXPECT_NEAR(Compare({run}).cells(0).samples_per_s().median(), 9600, 1e-6);
}

void SetLinks(const std::string& link, RunResult& run) {
  for (WorkerResult& worker : *run.mutable_worker_results()) {
    for (const char* side : {"left_link", "right_link"})
      (*worker.mutable_process()->mutable_facts())[side] = link;
  }
}

TEST(WarningsTest, OversubscriptionAndSingleHost) {
  const ComparisonResult comparison =
      Compare(Together(Runs("ps", {0.010}), Runs("ring", {0.010}, 4)));
  EXPECT_THAT(comparison.warnings(),
              Contains(AllOf(StartsWith("Oversubscribed cores"),
                             HasSubstr("ps with 4 workers (6 threads on 2 cores)"),
                             HasSubstr("ring with 4 workers (4 threads on 2 cores)"))));
  EXPECT_THAT(comparison.warnings(), Contains(HasSubstr("all processes ran on bench-01")));
  EXPECT_THAT(comparison.warnings(), Contains(StartsWith("Few trials: with 1 trial")));
}

TEST(WarningsTest, SkippedSteps) {
  std::vector<RunResult> runs = Runs("ring", {0.010, 0.010}, 2);
  EXPECT_THAT(Compare(runs).warnings(), Not(Contains(HasSubstr("Skipped"))));
  runs[1].set_skipped_steps(3);
  EXPECT_THAT(Compare(runs).warnings(),
              Contains(HasSubstr("Skipped steps: a gradient was not finite, and no rank applied "
                                 "it: ring, 2 workers, trial 1 (3 of ")));
}

TEST(WarningsTest, NoneForEnoughQuietTrialsOnHostsOfTheirOwn) {
  std::vector<RunResult> runs = Together(Runs("ps", {0.01, 0.01, 0.01, 0.01, 0.01}, 2),
                                         Runs("ring", {0.01, 0.01, 0.01, 0.01, 0.01}, 2));
  for (RunResult& run : runs) {
    run.mutable_worker_results(1)->mutable_process()->set_hostname("bench-02");
    for (ShardResult& shard : *run.mutable_shard_results())
      shard.mutable_process()->set_hostname("bench-03");
    if (run.strategy() == "ring") SetLinks("grpc", run);
  }
  EXPECT_THAT(Compare(runs).warnings(), ElementsAre());
}

TEST(WarningsTest, TransportsThatDiffer) {
  std::vector<RunResult> runs = Together(Runs("ps", {0.010}), Runs("ring", {0.010}));
  runs = Together(runs, Together(Runs("direct", {0.010}), Runs("local", {0.010})));
  EXPECT_THAT(
      Compare(runs).warnings(),
      Contains("Transport differs: ps over grpc; direct over shm; ring over tcp. These runs "
               "compare transports as well as topologies. Rings and servers over one "
               "link (--ring_link=grpc or --ring_link=shm against --ps_link=grpc_tcp or "
               "--ps_link=shm) compare topologies alone."));
  runs = Together(Runs("ps", {0.010}), Runs("ring", {0.010}));
  SetLinks("grpc", runs[1]);
  EXPECT_THAT(Compare(runs).warnings(), Not(Contains(StartsWith("Transport"))));
}

TEST(WarningsTest, AServerOverGrpcOrSharedMemoryHasTheTransportOfARing) {
  for (const auto& [ps_link, ring_link] :
       std::map<std::string, std::string>{{"grpc_tcp", "grpc"}, {"shm", "shm"}}) {
    SampleRun sample;
    sample.strategy = "ps";
    sample.workers = 4;
    sample.batch_size = 32;
    sample.link = ps_link;
    std::vector<RunResult> runs = Together({MakeRun(sample)}, Runs("ring", {0.010}));
    SetLinks(ring_link, runs[1]);
    EXPECT_THAT(Compare(runs).warnings(), Not(Contains(StartsWith("Transport")))) << ps_link;
    SetLinks("tcp", runs[1]);
    EXPECT_THAT(Compare(runs).warnings(), Contains(StartsWith("Transport"))) << ps_link;
  }
}

TEST(WarningsTest, ModesOfAParameterServer) {
  std::vector<RunResult> runs = Together(Runs("ps", {0.010}), Runs("ps ssp 3", {0.010}));
  EXPECT_THAT(Compare(runs).warnings(),
              Contains("Parameter servers differ: --ps_mode is ssp in ps ssp 3; sync in ps."));
  EXPECT_THAT(Compare(runs).warnings(),
              Contains(StartsWith("Another algorithm: ps ssp 3 does not wait")));
  runs = Together(Runs("ps ssp 3", {0.010}), Runs("ps ssp 2", {0.010}));
  EXPECT_THAT(Compare(runs).warnings(),
              Contains("Parameter servers differ: --staleness is 2 in ps ssp 2; 3 in ps ssp 3."));
  runs = Together(Runs("ps server-update", {0.010}), Runs("ps", {0.010}));
  EXPECT_THAT(Compare(runs).warnings(),
              Contains("Parameter servers differ: --update is server in ps server-update; worker "
                       "in ps."));
  runs = Together(Runs("ps server-update", {0.010}), Runs("ring", {0.010}));
  EXPECT_THAT(Compare(runs).warnings(), Not(Contains(StartsWith("Parameter servers differ"))));
  EXPECT_THAT(Compare(runs).warnings(), Not(Contains(StartsWith("Another algorithm"))));
}

TEST(WarningsTest, SharedMemoryHasNoCongestionControl) {
  std::vector<RunResult> runs = Together(Runs("ring", {0.010}), Runs("direct", {0.010}));
  SetLinks("shm", runs[0]);
  for (RunResult& run : runs) {
    (*run.mutable_worker_results(0)->mutable_process()->mutable_facts())["congestion_control"] =
        "bbr";
  }
  EXPECT_THAT(Compare(runs).warnings(), Not(Contains(StartsWith("Congestion control"))));
  SetLinks("grpc", runs[0]);
  EXPECT_THAT(Compare(runs).warnings(), Contains(StartsWith("Congestion control is bbr")));
}

TEST(WarningsTest, CongestionControl) {
  std::vector<RunResult> runs = Together(Runs("ps", {0.010}), Runs("ring", {0.010}));
  EXPECT_THAT(Compare(runs).warnings(), Not(Contains(StartsWith("Congestion control"))));
  (*runs[1]
        .mutable_worker_results(0)
        ->mutable_process()
        ->mutable_facts())["ring_congestion_control"] = "reno";
  EXPECT_THAT(Compare(runs).warnings(),
              Contains(StartsWith("Congestion control differs: ps over cubic; ring over reno.")));
  for (RunResult& run : runs) {
    (*run.mutable_worker_results(0)->mutable_process()->mutable_facts())["congestion_control"] =
        "bbr";
    (*run.mutable_worker_results(0)
          ->mutable_process()
          ->mutable_facts())["ring_congestion_control"] = "bbr";
  }
  EXPECT_THAT(Compare(runs).warnings(), Contains(StartsWith("Congestion control is bbr")));
}

TEST(WarningsTest, HalfPrecisionWithoutKernels) {
  const auto warnings = [](const std::string& kernels) {
    std::vector<RunResult> runs = Runs("ring", {0.010});
    (*runs[0].mutable_worker_results(1)->mutable_process()->mutable_facts())["bf16_kernels"] =
        kernels;
    return Compare(runs).warnings();
  };
  EXPECT_THAT(warnings("no"), Contains(StartsWith("Precision bf16 without kernels")));
  EXPECT_THAT(warnings("yes"), Not(Contains(StartsWith("Precision"))));
}

TEST(WarningsTest, ABuildThatIsNotOptimised) {
  std::vector<RunResult> runs = Runs("ring", {0.010});
  runs[0].mutable_provenance()->set_build_type("Debug");
  EXPECT_THAT(Compare(runs).warnings(), Contains(StartsWith("Build type Debug")));
  EXPECT_THAT(Compare(Runs("ring", {0.010})).warnings(), Not(Contains(StartsWith("Build type"))));
}

}  // namespace
}  // namespace ringside
