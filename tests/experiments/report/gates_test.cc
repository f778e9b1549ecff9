#include "experiments/report/gates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/experiments/report/sample_runs.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

RunResult MadeRun(const std::string& strategy, int workers, int64_t trial = 0) {
  SampleRun sample;
  sample.strategy = strategy;
  sample.workers = workers;
  sample.batch_size = 128 / workers;
  sample.trial = trial;
  return MakeRun(sample);
}

std::vector<RunResult> GoodRuns() {
  return {MadeRun("ps", 2), MadeRun("ring", 2), MadeRun("local", 2),
          MadeRun("ps", 4), MadeRun("ring", 4), MadeRun("local", 4)};
}

void ExpectFailure(const Gate& gate, const std::string& detail) {
  EXPECT_FALSE(gate.passed()) << gate.name();
  EXPECT_THAT(gate.detail(), HasSubstr(detail));
}

TEST(GatesTest, GoodRunsPassAll) {
  const std::vector<Gate> gates = AllGates(GoodRuns());
  ASSERT_EQ(gates.size(), 5u);
  for (const Gate& gate : gates) EXPECT_TRUE(gate.passed()) << gate.name() << ": " << gate.detail();
  EXPECT_EQ(gates[2].name(), "equivalence");
  EXPECT_THAT(gates[2].detail(), HasSubstr("bit-identical in all 6 runs of ps, ring, local"));
}

TEST(GatesTest, ASingleRunPassesAndSaysThatItIsAlone) {
  for (const Gate& gate : AllGates({MadeRun("ring", 4)}))
    EXPECT_TRUE(gate.passed()) << gate.name() << ": " << gate.detail();
  EXPECT_THAT(EquivalenceGate({MadeRun("ring", 4)}).detail(),
              HasSubstr("no other run to compare with"));
}

TEST(GatesTest, NoRunFails) {
  for (const Gate& gate : AllGates({})) ExpectFailure(gate, "there is no run");
}

TEST(CompletenessGateTest, NamesTheMissingRank) {
  std::vector<RunResult> runs = GoodRuns();
  runs[4].mutable_worker_results()->DeleteSubrange(2, 1);
  ExpectFailure(CompletenessGate(runs), "ring, 4 workers, trial 0: worker 2 is missing");
}

TEST(CompletenessGateTest, NamesTheDoubleRankAndTheMissingShard) {
  std::vector<RunResult> runs = GoodRuns();
  runs[0].mutable_worker_results(1)->set_rank(0);
  ExpectFailure(CompletenessGate(runs),
                "ps, 2 workers, 2 shards, trial 0: worker 0 is there twice");
  runs = GoodRuns();
  runs[0].mutable_shard_results()->RemoveLast();
  ExpectFailure(CompletenessGate(runs), "shard 1 is missing");
}

TEST(CompletenessGateTest, NamesTheMissingStep) {
  std::vector<RunResult> runs = GoodRuns();
  runs[1].mutable_worker_results(1)->mutable_steps()->DeleteSubrange(4, 1);
  ExpectFailure(CompletenessGate(runs), "worker 1 has step 6 where step 5 should be");
  runs = GoodRuns();
  runs[1].mutable_worker_results(1)->mutable_steps()->RemoveLast();
  ExpectFailure(CompletenessGate(runs), "worker 1 has 29 of 30 steps");
}

TEST(CompletenessGateTest, ARunThatWentOnBeginsAfterItsCheckpoint) {
  SampleRun sample;
  sample.steps = 30;
  RunResult run = MakeRun(sample);
  run.set_total_steps(40);
  run.set_resumed_from_step(10);
  for (WorkerResult& worker : *run.mutable_worker_results()) {
    for (StepRecord& record : *worker.mutable_steps()) record.set_step(record.step() + 10);
  }
  EXPECT_TRUE(CompletenessGate({run}).passed()) << CompletenessGate({run}).detail();
  EXPECT_TRUE(TrafficGate({run}).passed()) << TrafficGate({run}).detail();
  run.set_resumed_from_step(9);
  EXPECT_FALSE(CompletenessGate({run}).passed());
  EXPECT_FALSE(TrafficGate({run}).passed());
}

TEST(CompletenessGateTest, NamesTheMissingCellAndTheMissingTrial) {
  std::vector<RunResult> runs = GoodRuns();
  runs.erase(runs.begin() + 3);
  ExpectFailure(CompletenessGate(runs), "there is no run of ps with 4 workers");
  runs = GoodRuns();
  runs.push_back(MadeRun("ring", 4, 1));
  ExpectFailure(CompletenessGate(runs), "ring with 4 workers has 2 trials");
  // One run of the oracle is enough.
  runs = {MadeRun("ps", 2, 0), MadeRun("ps", 2, 1), MadeRun("local", 2, 0)};
  EXPECT_TRUE(CompletenessGate(runs).passed());
}

TEST(CompletenessGateTest, DirectIsAStrategyOfItsOwn) {
  std::vector<RunResult> runs = {MadeRun("ps", 2),    MadeRun("ring", 2), MadeRun("direct", 2),
                                 MadeRun("ps", 4),    MadeRun("ring", 4), MadeRun("direct", 4),
                                 MadeRun("local", 2), MadeRun("local", 4)};
  for (const Gate& gate : AllGates(runs))
    EXPECT_TRUE(gate.passed()) << gate.name() << ": " << gate.detail();
  runs.erase(runs.begin() + 5);
  ExpectFailure(CompletenessGate(runs), "there is no run of direct with 4 workers");
}

TEST(CompletenessGateTest, ADirectScheduleIsFoundWhateverARingOfOneCallsItself) {
  std::vector<RunResult> runs = {MadeRun("direct", 1), MadeRun("direct", 2)};
  runs[0].set_strategy("ring");
  EXPECT_TRUE(CompletenessGate(runs).passed()) << CompletenessGate(runs).detail();
}

TEST(CompletenessGateTest, AnAutomaticScheduleMayComeOutEitherWay) {
  std::vector<RunResult> runs = {MadeRun("direct", 2), MadeRun("ring", 4)};
  for (RunResult& run : runs) (*run.mutable_settings())["schedule"] = "auto";
  for (const Gate& gate : AllGates(runs))
    EXPECT_TRUE(gate.passed()) << gate.name() << ": " << gate.detail();
  runs.push_back(MadeRun("ps", 2));
  runs.push_back(MadeRun("ps", 4));
  runs.erase(runs.begin());
  ExpectFailure(CompletenessGate(runs), "there is no run of ring with --schedule=auto with 2");
}

TEST(CompletenessGateTest, ModesOfAParameterServerAreStrategiesOfTheirOwn) {
  std::vector<RunResult> runs;
  for (int workers : {2, 4}) {
    for (const char* strategy : {"ps", "ps async", "ps ssp 3", "ps server-update", "ring"})
      runs.push_back(MadeRun(strategy, workers));
  }
  for (const Gate& gate : AllGates(runs))
    EXPECT_TRUE(gate.passed()) << gate.name() << ": " << gate.detail();
  runs.erase(runs.begin() + 6);
  ExpectFailure(CompletenessGate(runs), "there is no run of ps async with 4 workers");
}

TEST(CompletenessGateTest, ALateWorkerOfBackupLeavesStepsOut) {
  std::vector<RunResult> runs = {MadeRun("ps backup 1", 4)};
  runs[0].mutable_worker_results(2)->mutable_steps()->DeleteSubrange(4, 3);
  EXPECT_TRUE(CompletenessGate(runs).passed()) << CompletenessGate(runs).detail();
  runs[0].mutable_worker_results(1)->mutable_steps()->DeleteSubrange(5, 1);
  ExpectFailure(CompletenessGate(runs), "step 6 was taken by 2 workers, not by 3 at least");
  runs = {MadeRun("ps backup 1", 4)};
  runs[0].mutable_worker_results(2)->mutable_steps(3)->set_step(3);
  ExpectFailure(CompletenessGate(runs), "worker 2 has step 3 after step 3, of 30");
  // In other modes nobody may.
  runs = {MadeRun("ps async", 4)};
  runs[0].mutable_worker_results(2)->mutable_steps()->DeleteSubrange(4, 3);
  ExpectFailure(CompletenessGate(runs), "worker 2 has step 8 where step 5 should be");
}

TEST(CompletenessGateTest, TransportsOfAParameterServerAreCountedApart) {
  SampleRun sample;
  sample.strategy = "ps";
  std::vector<RunResult> runs;
  for (const char* link : {"grpc_tcp", "grpc_uds", "shm"}) {
    sample.link = link;
    runs.push_back(MakeRun(sample));
  }
  sample.strategy = "ring";
  sample.link = "shm";
  runs.push_back(MakeRun(sample));
  EXPECT_TRUE(CompletenessGate(runs).passed()) << CompletenessGate(runs).detail();
}

TEST(SettingsGateTest, NamesTheSettingThatDiffers) {
  std::vector<RunResult> runs = GoodRuns();
  (*runs[1].mutable_settings())["seed"] = "2";
  ExpectFailure(SettingsGate(runs),
                "seed is \"1\" in (ps, 2 workers, 2 shards, trial 0) and \"2\" in (ring, 2 "
                "workers, trial 0)");
  runs = GoodRuns();
  runs[5].mutable_settings()->erase("optimizer");
  ExpectFailure(SettingsGate(runs), "optimizer is \"sgd\"");
}

TEST(SettingsGateTest, ModelsThatComputeInAnotherPrecisionAreNotCompared) {
  std::vector<RunResult> runs = GoodRuns();
  for (RunResult& run : runs) (*run.mutable_settings())["precision"] = "bf16";
  EXPECT_TRUE(SettingsGate(runs).passed());
  (*runs[1].mutable_settings())["precision"] = "fp32";
  ExpectFailure(SettingsGate(runs),
                "precision is \"bf16\" in (ps, 2 workers, 2 shards, trial 0) and \"fp32\" in "
                "(ring, 2 workers, trial 0)");
}

TEST(SettingsGateTest, NamesAnotherBuildOrMachine) {
  std::vector<RunResult> runs = GoodRuns();
  runs[2].mutable_provenance()->set_build_commit("fffffff");
  ExpectFailure(SettingsGate(runs), "build commit is \"1f0c2d9\"");
  runs = GoodRuns();
  (*runs[2].mutable_provenance()->mutable_versions())["LibTorch"] = "2.0";
  ExpectFailure(SettingsGate(runs), "version of LibTorch");
}

TEST(SettingsGateTest, TheGlobalBatchIsOneForANumberOfWorkers) {
  std::vector<RunResult> runs = GoodRuns();
  runs[1].set_batch_size(65);
  runs[1].set_global_batch_size(130);
  ExpectFailure(SettingsGate(runs),
                "the global batch is 128 in (ps, 2 workers, 2 shards, trial 0) and 130");
}

TEST(SettingsGateTest, StepsAgreeForANumberOfWorkersOnly) {
  std::vector<RunResult> runs = GoodRuns();
  for (size_t i = 3; i < runs.size(); ++i) runs[i].set_total_steps(60);
  EXPECT_TRUE(SettingsGate(runs).passed());
  runs[5].set_total_steps(61);
  ExpectFailure(SettingsGate(runs),
                "(ps, 4 workers, 2 shards, trial 0) took 60 steps, 10 of them warm-up, (local, 4 "
                "workers, trial 0) 61, 10");
}

TEST(SettingsGateTest, WhatAParameterServerIsToldMayDiffer) {
  std::vector<RunResult> runs = GoodRuns();
  for (const char* name :
       {"ps_mode", "update", "staleness", "backup_workers", "ps_link", "snapshot_dir"})
    (*runs[3].mutable_settings())[name] = "other";
  EXPECT_TRUE(SettingsGate(runs).passed()) << SettingsGate(runs).detail();
}

TEST(SettingsGateTest, FoldersAndDeadlinesMayDiffer) {
  std::vector<RunResult> runs = GoodRuns();
  (*runs[1].mutable_settings())["out"] = "elsewhere";
  (*runs[2].mutable_settings())["lease"] = "5s";
  EXPECT_TRUE(SettingsGate(runs).passed());
}

TEST(SettingsGateTest, CoresOfContendersAgree) {
  std::vector<RunResult> runs = GoodRuns();
  for (WorkerResult& worker : *runs[1].mutable_worker_results())
    worker.mutable_process()->add_cpus(2);
  ExpectFailure(SettingsGate(runs),
                "(ps, 2 workers, 2 shards, trial 0) may use 2 cores, (ring, 2 workers, trial 0) 3");
}

TEST(SettingsGateTest, DedicatedServerHostsAreAllowed) {
  std::vector<RunResult> runs = GoodRuns();
  for (ShardResult& shard : *runs[0].mutable_shard_results()) {
    shard.mutable_process()->set_hostname("server");
    shard.mutable_process()->add_cpus(7);
  }
  EXPECT_TRUE(SettingsGate(runs).passed());
}

TEST(EquivalenceGateTest, RanksOfARunThatDiffer) {
  std::vector<RunResult> runs = GoodRuns();
  runs[4].mutable_worker_results(3)->set_parameters_sha256(std::string(64, 'b'));
  ExpectFailure(EquivalenceGate(runs),
                "ring, 4 workers, trial 0: worker 3 ended with bbbbbbbbbbbb, worker 0 with ");
}

TEST(EquivalenceGateTest, StrategiesThatDiffer) {
  std::vector<RunResult> runs = GoodRuns();
  for (WorkerResult& worker : *runs[4].mutable_worker_results())
    worker.set_parameters_sha256(std::string(64, 'c'));
  const Gate gate = EquivalenceGate(runs);
  ExpectFailure(gate, "(ps, 4 workers, 2 shards, trial 0) ended with ");
  ExpectFailure(gate, "(ring, 4 workers, trial 0) with cccccccccccc");
}

void EndWith(char digit, RunResult& run) {
  for (WorkerResult& worker : *run.mutable_worker_results())
    worker.set_parameters_sha256(std::string(64, digit));
}

TEST(EquivalenceGateTest, DirectEndsWithTheBitsOfTheRing) {
  std::vector<RunResult> runs = {MadeRun("ring", 2), MadeRun("direct", 2)};
  EXPECT_TRUE(EquivalenceGate(runs).passed());
  EndWith('c', runs[1]);
  ExpectFailure(EquivalenceGate(runs), "(direct, 2 workers, trial 0) with cccccccccccc");
}

TEST(EquivalenceGateTest, WithSixteenBitsAServerIsExemptAndARingIsNot) {
  std::vector<RunResult> runs = {MadeRun("ps", 2, 0), MadeRun("ring", 2), MadeRun("local", 2),
                                 MadeRun("ps", 2, 1)};
  for (RunResult& run : runs) (*run.mutable_settings())["wire_dtype"] = "bf16";
  EndWith('c', runs[0]);
  EndWith('c', runs[3]);
  EXPECT_TRUE(EquivalenceGate(runs).passed());
  EXPECT_EQ(EquivalenceGate(runs).detail(),
            "final parameters are bit-identical in all 2 runs of ring, local, for each number of "
            "workers; other strategies may end with other bits: ps rounds to bf16 only what "
            "arrives and what leaves, a ring its partial sums too");
  EndWith('d', runs[3]);  // but one trial must end as another does
  ExpectFailure(EquivalenceGate(runs), "(ps, 2 workers, 2 shards, trial 1) with dddddddddddd");
  EndWith('c', runs[3]);
  EndWith('e', runs[2]);
  ExpectFailure(EquivalenceGate(runs), "(local, 2 workers, trial 0) with eeeeeeeeeeee");
}

TEST(EquivalenceGateTest, LibrariesOfOthersAreExemptBetweenStrategiesNotBetweenRanks) {
  std::vector<RunResult> runs = {MadeRun("ring", 2), MadeRun("nccl", 2)};
  EndWith('c', runs[1]);
  EXPECT_TRUE(EquivalenceGate(runs).passed());
  EXPECT_THAT(EquivalenceGate(runs).detail(),
              HasSubstr("1 run of ring, for each number of workers; other strategies may end with "
                        "other bits: nccl adds in an order of its own"));
  EXPECT_THAT(EquivalenceGate({runs[1], runs[1]}).detail(),
              HasSubstr("all ranks of each run ended with the same bits; other strategies"));
  runs[1].mutable_worker_results(1)->set_parameters_sha256(std::string(64, 'd'));
  ExpectFailure(EquivalenceGate(runs), "nccl, 2 workers, trial 0: worker 1 ended with dddddddd");
}

TEST(EquivalenceGateTest, RunsThatDependOnTimingAreComparedWithNobody) {
  for (const char* mode : {"ps async", "ps ssp 3", "ps backup 1"}) {
    std::vector<RunResult> runs = {MadeRun("ring", 2), MadeRun(mode, 2, 0), MadeRun(mode, 2, 1),
                                   MadeRun("local", 2)};
    EndWith('c', runs[1]);
    EndWith('d', runs[2]);
    const Gate gate = EquivalenceGate(runs);
    EXPECT_TRUE(gate.passed()) << gate.detail();
    EXPECT_THAT(gate.detail(), HasSubstr("all 2 runs of ring, local"));
    EXPECT_THAT(gate.detail(), HasSubstr(mode));
    EXPECT_THAT(gate.detail(), HasSubstr("so that every run ends with bits of its own"));
    // But its own ranks must agree,
    runs[2].mutable_worker_results(1)->set_parameters_sha256(std::string(64, 'e'));
    ExpectFailure(EquivalenceGate(runs), "worker 1 ended with eeeeeeeeeeee, worker 0 with dddd");
    // and all must start alike.
    runs[2] = MadeRun(mode, 2, 1);
    for (WorkerResult& worker : *runs[2].mutable_worker_results())
      worker.set_initial_parameters_sha256(std::string(64, 'f'));
    ExpectFailure(EquivalenceGate(runs), "from ffffffffffff");
  }
}

TEST(EquivalenceGateTest, AnUpdateOnTheServerEndsWithTheBitsOfAllOthers) {
  std::vector<RunResult> runs = {MadeRun("ps", 2), MadeRun("ps server-update", 2),
                                 MadeRun("ring", 2)};
  EXPECT_TRUE(EquivalenceGate(runs).passed());
  EXPECT_THAT(EquivalenceGate(runs).detail(),
              HasSubstr("bit-identical in all 3 runs of ps, ps server-update, ring"));
  EndWith('c', runs[1]);
  ExpectFailure(EquivalenceGate(runs), "(ps server-update, 2 workers, 2 shards, trial 0)");
}

TEST(EquivalenceGateTest, InitialParametersThatDiffer) {
  std::vector<RunResult> runs = GoodRuns();
  runs[0].mutable_worker_results(1)->set_initial_parameters_sha256(std::string(64, 'd'));
  ExpectFailure(EquivalenceGate(runs), "worker 1 started from dddddddddddd");
  runs = GoodRuns();
  for (WorkerResult& worker : *runs[1].mutable_worker_results())
    worker.set_initial_parameters_sha256(std::string(64, 'd'));
  ExpectFailure(EquivalenceGate(runs), "(ring, 2 workers, trial 0) from dddddddddddd");
}

TEST(EquivalenceGateTest, AMissingHashIsNotEquality) {
  std::vector<RunResult> runs = GoodRuns();
  for (RunResult& run : runs) {
    for (WorkerResult& worker : *run.mutable_worker_results()) worker.clear_parameters_sha256();
  }
  ExpectFailure(EquivalenceGate(runs), "worker 0 reported no hash");
}

TEST(EquivalenceGateTest, OtherNumbersOfWorkersMayEndWithOtherBits) {
  const std::vector<RunResult> runs = GoodRuns();
  EXPECT_NE(runs[0].parameters_sha256(), runs[3].parameters_sha256());
  EXPECT_TRUE(EquivalenceGate(runs).passed());
}

TEST(TrafficGateTest, NamesTheFirstWorkerThatDiffers) {
  std::vector<RunResult> runs = GoodRuns();
  Traffic& traffic = *runs[4].mutable_worker_results(1)->mutable_traffic();
  traffic.set_messages_sent(traffic.messages_sent() + 1);
  ExpectFailure(TrafficGate(runs),
                "ring, 4 workers, trial 0: worker 1, messages sent: counted 181, formula 180");
}

TEST(TrafficGateTest, NamesTheShardThatDiffers) {
  std::vector<RunResult> runs = GoodRuns();
  runs[0].mutable_shard_results(1)->mutable_traffic()->set_payload_bytes_received(1);
  ExpectFailure(
      TrafficGate(runs),
      "ps, 2 workers, 2 shards, trial 0: shard 1, payload bytes received: counted 1, formula ");
}

TEST(TrafficGateTest, SixteenBitsHalveThePayloadOfARing) {
  SampleRun sample;
  sample.wire_dtype = "fp16";
  RunResult run = MakeRun(sample);
  EXPECT_TRUE(TrafficGate({run}).passed()) << TrafficGate({run}).detail();
  (*run.mutable_settings())["wire_dtype"] = "fp32";
  ExpectFailure(TrafficGate({run}), "sent 120,000 and received 120,000 payload bytes");
}

TEST(TrafficGateTest, DirectIsHeldToTheExpectationOfItsProcesses) {
  RunResult run = MadeRun("direct", 4);
  EXPECT_TRUE(TrafficGate({run}).passed());
  run.mutable_worker_results(2)->mutable_traffic()->set_payload_bytes_sent(5);
  ExpectFailure(TrafficGate({run}), "worker 2, payload bytes sent: counted 5, formula ");
}

TEST(TrafficGateTest, HasASecondOpinionOnAsynchronousServersAndNoneOnBackup) {
  std::vector<RunResult> runs = {MadeRun("ps async", 2), MadeRun("ps backup 1", 2)};
  EXPECT_TRUE(TrafficGate(runs).passed()) << TrafficGate(runs).detail();
  for (RunResult& run : runs) run.set_parameter_elements(999);
  ExpectFailure(TrafficGate({runs[0]}), "all workers together sent 240,000");
  EXPECT_TRUE(TrafficGate({runs[1]}).passed());
}

TEST(TrafficGateTest, DoesNotTakeTheWordOfTheProcessesAlone) {
  std::vector<RunResult> runs = GoodRuns();
  for (WorkerResult& worker : *runs[1].mutable_worker_results()) {
    worker.clear_traffic();
    worker.clear_expected_traffic();
  }
  // Two workers, 1,000 parameters, 30 steps: 2 (2 - 1) 4000 * 30.
  ExpectFailure(TrafficGate(runs),
                "all workers together sent 0 and received 0 payload bytes, but 1,000 parameters "
                "and 30 steps make 240,000");
}

}  // namespace
}  // namespace ringside
