#include "experiments/report/point.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/report/bit_equality.h"
#include "experiments/report/comparison.h"
#include "experiments/report/csv_table.h"
#include "experiments/report/markdown_summary.h"
#include "experiments/report/result_tables.h"
#include "experiments/report/run_grid.h"
#include "tests/experiments/report/sample_runs.h"

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

using Settings = std::map<std::string, std::string>;

RunResult RunWith(const std::string& strategy, const Settings& settings, double step_s = 0.010,
                  int workers = 4, int64_t trial = 0) {
  SampleRun sample;
  sample.strategy = strategy;
  sample.workers = workers;
  sample.batch_size = 128 / workers;
  sample.trial = trial;
  sample.step_s = step_s;
  const auto dtype = settings.find("wire_dtype");
  if (dtype != settings.end()) sample.wire_dtype = dtype->second;
  RunResult run = MakeRun(sample);
  for (const auto& [name, value] : settings) (*run.mutable_settings())[name] = value;
  return run;
}

void EndWith(char letter, RunResult* run) {
  for (WorkerResult& worker : *run->mutable_worker_results())
    worker.set_parameters_sha256(std::string(64, letter));
}

ComparisonResult Sweep(const std::vector<RunResult>& runs, const std::vector<std::string>& varied) {
  return BuildComparison(runs, SampleCommand(), SampleProvenance(), {"", varied, {}});
}

// ps and ring on two networks, two trials each.
std::vector<RunResult> TwoNetworks() {
  std::vector<RunResult> runs;
  for (int trial = 0; trial < 2; ++trial) {
    for (const char* strategy : {"ps", "ring"}) {
      const bool ring = std::string(strategy) == "ring";
      runs.push_back(RunWith(strategy, {{"network", "10gbit"}}, ring ? 0.010 : 0.005, 4, trial));
      runs.push_back(RunWith(strategy, {{"network", "1gbit"}}, ring ? 0.020 : 0.030, 4, trial));
    }
  }
  return runs;
}

TEST(PointTest, PartsAndCompatibility) {
  EXPECT_TRUE(IsPartOf({}, {{"a", "1"}}));
  EXPECT_TRUE(IsPartOf({{"a", "1"}}, {{"a", "1"}, {"b", "2"}}));
  EXPECT_FALSE(IsPartOf({{"a", "2"}}, {{"a", "1"}}));
  EXPECT_FALSE(IsPartOf({{"b", "2"}}, {{"a", "1"}}));
  EXPECT_TRUE(AreCompatible({{"a", "1"}}, {{"b", "2"}}));
  EXPECT_FALSE(AreCompatible({{"a", "1"}}, {{"a", "2"}, {"b", "2"}}));
}

TEST(PointTest, FullPointsHaveTheValuesOfTheirParts) {
  EXPECT_THAT(FullPoints({{}}), ElementsAre(Point()));
  EXPECT_THAT(FullPoints({{}, {{"n", "10"}}, {{"n", "9"}}}),
              ElementsAre(Point{{"n", "9"}}, Point{{"n", "10"}}));
  // Along two settings that not all heed: where both meet.
  EXPECT_THAT(FullPoints({{{"a", "1"}}, {{"a", "2"}}, {{"b", "1"}}}),
              UnorderedElementsAre(Point{{"a", "1"}, {"b", "1"}}, Point{{"a", "2"}, {"b", "1"}}));
}

TEST(PointSpaceTest, WhatIsEqualOrToldOtherwiseIsNoDimension) {
  const std::vector<RunResult> runs = TwoNetworks();
  EXPECT_THAT(
      PointSpace(runs, {"network", "seed", "strategy", "workers", "ps_mode", "network"}).settings(),
      ElementsAre("network"));
  EXPECT_THAT(PointSpace(runs, {}).settings(), IsEmpty());
  EXPECT_FALSE(PointSpace(runs, {}).is_sweep());
}

TEST(PointSpaceTest, ABatchThatFollowsTheWorkersIsNoDimension) {
  std::vector<RunResult> runs = {RunWith("ring", {}, 0.01, 2), RunWith("ring", {}, 0.01, 4)};
  EXPECT_THAT(PointSpace(runs, {"batch_size"}).settings(), IsEmpty());
  runs.push_back(RunWith("ring", {{"batch_size", "7"}}, 0.01, 4));
  EXPECT_THAT(PointSpace(runs, {"batch_size"}).settings(), ElementsAre("batch_size"));
}

TEST(PointSpaceTest, WhoHeedsNothingOfASettingHasNoPlaceAlongIt) {
  const std::vector<RunResult> runs = {
      RunWith("ps", {{"placement", "dedicated"}}), RunWith("ps", {{"placement", "colocated"}}),
      RunWith("ring", {{"placement", "dedicated"}}), RunWith("local", {})};
  const PointSpace space(runs, {"placement"});
  EXPECT_THAT(space.Of(runs[1]), ElementsAre(Pair("placement", "colocated")));
  EXPECT_THAT(space.Of(runs[2]), IsEmpty());
  EXPECT_THAT(space.Of(runs[3]), IsEmpty());
}

TEST(PointSpaceTest, UnlessItWasRunAtSeveralValues) {
  const std::vector<RunResult> runs = {
      RunWith("local", {{"network", "1gbit"}}), RunWith("local", {{"network", "2gbit"}}),
      RunWith("ring", {{"network", "1gbit"}}), RunWith("ring", {{"network", "2gbit"}})};
  EXPECT_THAT(PointSpace(runs, {"network"}).Of(runs[1]), ElementsAre(Pair("network", "2gbit")));
}

TEST(SweepTest, CellsAndContrastsAreOfOnePoint) {
  const ComparisonResult comparison = Sweep(TwoNetworks(), {"network"});
  EXPECT_TRUE(AllGatesPassed(comparison)) << comparison.gates(1).detail();
  ASSERT_EQ(comparison.cells_size(), 4);
  EXPECT_EQ(comparison.cells(0).strategy(), "ps");
  EXPECT_EQ(comparison.cells(0).point().at("network"), "1gbit");
  EXPECT_EQ(comparison.cells(0).trials(), 2);
  EXPECT_EQ(comparison.cells(0).step_s().median(), 0.030);
  EXPECT_EQ(comparison.cells(3).strategy(), "ring");
  EXPECT_EQ(comparison.cells(3).point().at("network"), "10gbit");
  ASSERT_EQ(comparison.contrasts_size(), 2);
  EXPECT_EQ(comparison.contrasts(0).point().at("network"), "1gbit");
  EXPECT_EQ(comparison.contrasts(0).faster(), "ring");
  EXPECT_EQ(comparison.contrasts(1).faster(), "ps");
  EXPECT_THAT(comparison.verdict(),
              Contains("4 workers, network 1gbit: ring is 1.50 times as fast as ps (95 % interval "
                       "1.50 to 1.50); oversubscribed cores, 6 threads on 2 cores"));
  EXPECT_THAT(comparison.verdict(),
              Contains(StartsWith("4 workers, network 10gbit: ps is 2.00 times as fast as ring")));
}

TEST(SweepTest, WithoutBeingToldTheSettingsGateFails) {
  const ComparisonResult comparison = Sweep(TwoNetworks(), {});
  EXPECT_FALSE(comparison.gates(1).passed());
  EXPECT_THAT(comparison.gates(1).detail(), HasSubstr("network is \"10gbit\" in (ps"));
}

TEST(SweepTest, WhatIsNotVariedMustStillBeEqual) {
  std::vector<RunResult> runs = TwoNetworks();
  (*runs.back().mutable_settings())["seed"] = "9";
  const ComparisonResult comparison = Sweep(runs, {"network"});
  EXPECT_FALSE(comparison.gates(1).passed());
  EXPECT_THAT(comparison.gates(1).detail(), StartsWith("seed is \"1\""));
}

TEST(SweepTest, BaselinesAreOfTheSamePoint) {
  std::vector<RunResult> runs;
  for (const char* network : {"1gbit", "2gbit"}) {
    const bool fast = std::string(network) == "2gbit";
    runs.push_back(RunWith("ps", {{"network", network}}, fast ? 0.010 : 0.020, 2));
    runs.push_back(RunWith("ps", {{"network", network}}, fast ? 0.005 : 0.020, 4));
  }
  const ComparisonResult comparison = Sweep(runs, {"network"});
  for (const Cell& cell : comparison.cells()) {
    EXPECT_EQ(cell.baseline(), "ps with 2 workers");
    EXPECT_EQ(cell.baseline_workers(), 2);
    const bool scaled = cell.workers() == 4 && cell.point().at("network") == "2gbit";
    EXPECT_DOUBLE_EQ(cell.speed_up(), scaled ? 2 : 1);
  }
}

TEST(BaselineTest, IsARingOfOneWhereThereIsOne) {
  const ComparisonResult comparison =
      Sweep({RunWith("ps", {}, 0.012, 1), RunWith("ring", {}, 0.010, 1),
             RunWith("ps", {}, 0.008, 2), RunWith("ring", {}, 0.005, 2)},
            {});
  for (const Cell& cell : comparison.cells()) {
    EXPECT_EQ(cell.baseline(), "ring with 1 worker");
    EXPECT_EQ(cell.baseline_workers(), 1);
  }
  EXPECT_NEAR(comparison.cells(0).efficiency(), 0.010 / 0.012, 1e-9);  // ps of one communicates
  EXPECT_NEAR(comparison.cells(2).speed_up(), 1.25, 1e-9);
  EXPECT_NEAR(comparison.cells(3).efficiency(), 1, 1e-9);
}

TEST(BaselineTest, ElseTheOracleWhichIsOneProcess) {
  const ComparisonResult comparison =
      Sweep({RunWith("ring", {}, 0.010, 4), RunWith("local", {}, 0.020, 4)}, {});
  const Cell& ring = comparison.cells(0);
  EXPECT_EQ(ring.baseline(), "local, one process");
  EXPECT_EQ(ring.baseline_workers(), 1);
  EXPECT_NEAR(ring.speed_up(), 2, 1e-9);
  EXPECT_NEAR(ring.efficiency(), 0.5, 1e-9);
}

TEST(BaselineTest, ARingOfOneServesEveryNetwork) {
  const ComparisonResult comparison = Sweep({RunWith("ring", {{"network", "1gbit"}}, 0.010, 1),
                                             RunWith("ring", {{"network", "1gbit"}}, 0.010, 4),
                                             RunWith("ring", {{"network", "2gbit"}}, 0.005, 4)},
                                            {"network"});
  EXPECT_EQ(comparison.cells(2).baseline(), "ring with 1 worker");
  EXPECT_NEAR(comparison.cells(2).speed_up(), 2, 1e-9);
}

TEST(BaselineTest, ButNotAnotherBatch) {
  std::vector<RunResult> runs;
  for (const char* batch : {"32", "64"}) {
    for (int workers : {1, 4})
      runs.push_back(RunWith("ring", {{"batch_size", batch}},
                             std::string(batch) == "32" ? 0.010 : 0.020, workers));
  }
  const ComparisonResult comparison = Sweep(runs, {"batch_size"});
  for (const Cell& cell : comparison.cells()) {
    EXPECT_EQ(cell.speed_up(), 1);
    EXPECT_EQ(cell.baseline(), "ring with 1 worker");
  }
}

TEST(BitClassTest, OnlyWhatIsComputedDecides) {
  for (const char* name : {"network", "placement", "ps_shards", "ps_link", "ring_link", "overlap",
                           "frame_bytes", "grpc_bdp_probe", "batch_size", "trial"})
    EXPECT_FALSE(DecidesBits(name)) << name;
  for (const char* name :
       {"seed", "model", "momentum", "wire_dtype", "bucket_bytes", "threads", "steps", "precision"})
    EXPECT_TRUE(DecidesBits(name)) << name;
}

TEST(BitClassTest, AnotherMomentumMayEndWithOtherBitsAnotherNetworkMayNot) {
  std::vector<RunResult> runs = {
      RunWith("ps", {{"momentum", "0"}}), RunWith("ring", {{"momentum", "0"}}),
      RunWith("ps", {{"momentum", "0.9"}}), RunWith("ring", {{"momentum", "0.9"}})};
  EndWith('b', &runs[2]);
  EndWith('b', &runs[3]);
  const ComparisonResult comparison = Sweep(runs, {"momentum"});
  EXPECT_TRUE(AllGatesPassed(comparison)) << comparison.gates(2).detail();
  const std::string summary = MarkdownSummary(comparison);
  EXPECT_THAT(summary, HasSubstr("| 4 | 128 | momentum 0.9 | identical | ps, ring | `bbbb"));
  EXPECT_THAT(summary, HasSubstr("| 4 | 128 | momentum 0 | identical | ps, ring | `"));
  EndWith('c', &runs[3]);
  EXPECT_FALSE(Sweep(runs, {"momentum"}).gates(2).passed());
  runs = TwoNetworks();
  EndWith('b', &runs[1]);
  EXPECT_FALSE(Sweep(runs, {"network"}).gates(2).passed());
}

TEST(SweepTest, OtherBatchesMayBePoints) {
  std::vector<RunResult> runs;
  for (int batch : {32, 64}) {
    for (const char* strategy : {"ps", "ring"}) {
      SampleRun sample;
      sample.strategy = strategy;
      sample.workers = 2;
      sample.batch_size = batch;
      runs.push_back(MakeRun(sample));
    }
  }
  EXPECT_TRUE(AllGatesPassed(Sweep(runs, {"batch_size"})));
  EXPECT_FALSE(AllGatesPassed(Sweep(runs, {})));
}

TEST(SweepTest, GapsAreToldAndAreNoFailure) {
  std::vector<RunResult> runs = TwoNetworks();
  runs.erase(runs.begin());
  runs.erase(runs.begin() + 3);  // both of ps at 10gbit
  const ComparisonResult comparison = Sweep(runs, {"network"});
  EXPECT_TRUE(AllGatesPassed(comparison)) << comparison.gates(0).detail();
  EXPECT_THAT(comparison.warnings(),
              Contains(HasSubstr("there is no run of ps with 4 workers at network 10gbit")));
  EXPECT_THAT(GridGaps(TwoNetworks(), PointSpace(TwoNetworks(), {"network"})), IsEmpty());
}

TEST(SweepTest, PlacementsThatAreNotVariedAreSeries) {
  std::vector<RunResult> runs;
  for (int trial = 0; trial < 2; ++trial) {
    runs.push_back(RunWith("ps", {{"placement", "dedicated"}}, 0.010, 4, trial));
    runs.push_back(RunWith("ps", {{"placement", "colocated"}}, 0.020, 4, trial));
    runs.push_back(RunWith("ring", {{"placement", "dedicated"}}, 0.040, 4, trial));
  }
  const ComparisonResult comparison = Sweep(runs, {"workers"});
  EXPECT_EQ(comparison.cells_size(), 3);
  EXPECT_THAT(comparison.verdict(0),
              HasSubstr("ps dedicated is 2.00 times as fast as ps colocated"));
}

TEST(SweepTest, TellsWhatASettingDoesToASeries) {
  std::vector<RunResult> runs;
  for (int trial = 0; trial < 2; ++trial) {
    runs.push_back(RunWith("ps", {{"placement", "dedicated"}}, 0.010, 4, trial));
    runs.push_back(RunWith("ps", {{"placement", "colocated"}}, 0.015, 4, trial));
    runs.push_back(RunWith("ring", {{"placement", "dedicated"}}, 0.010, 4, trial));
  }
  const ComparisonResult comparison = Sweep(runs, {"placement"});
  EXPECT_EQ(comparison.verdict(0),
            "Effect of placement on ps, 4 workers: fastest with dedicated, 1.50 times as fast as "
            "with colocated (95 % interval 1.50 to 1.50)");
  EXPECT_THAT(comparison.verdict(1), StartsWith("4 workers, placement colocated: ring is"));
  EXPECT_THAT(Sweep(TwoNetworks(), {"network"}).verdict(), Not(Contains(StartsWith("Effect"))));
}

TEST(SweepTest, TheCsvHasTheSettingsAsColumns) {
  const std::string csv = CellsCsv(Sweep(TwoNetworks(), {"network"}));
  EXPECT_THAT(csv, HasSubstr(",baseline,placement,threads,cores,point_network\n"));
  EXPECT_THAT(csv, HasSubstr(",6,2,1gbit\n"));
}

TEST(MarkedFieldsTest, TooFewCoresAndTrialsThatVaryAreLoud) {
  const ComparisonResult comparison =
      Sweep({RunWith("ring", {}, 0.010, 2, 0), RunWith("ring", {}, 0.010, 2, 1),
             RunWith("ring", {}, 0.010, 4, 0), RunWith("ring", {}, 0.020, 4, 1)},
            {});
  EXPECT_EQ(CoresField(comparison.cells(0)).text, "2 / 2");
  EXPECT_EQ(CoresField(comparison.cells(0)).kind, Field::Kind::kText);
  EXPECT_EQ(SpreadField(comparison.cells(0)).kind, Field::Kind::kText);
  EXPECT_EQ(CoresField(comparison.cells(1)).text, "4 / 2");
  EXPECT_EQ(CoresField(comparison.cells(1)).kind, Field::Kind::kFail);
  EXPECT_EQ(CoresField(comparison.cells(1)).note, "oversubscribed");
  EXPECT_EQ(SpreadField(comparison.cells(1)).kind, Field::Kind::kFail);
}

TEST(SweepTest, ItsOwnWarningsAndQuestionAreKept) {
  const ComparisonResult comparison =
      BuildComparison(TwoNetworks(), SampleCommand(), SampleProvenance(),
                      {"Which is faster?", {"network"}, {"The sweep says so."}});
  const ComparisonResult rebuilt = RebuildComparison(comparison);
  EXPECT_EQ(rebuilt.question(), "Which is faster?");
  EXPECT_THAT(rebuilt.varied(), ElementsAre("network"));
  EXPECT_THAT(rebuilt.warnings(), Contains("The sweep says so."));
  EXPECT_EQ(rebuilt.warnings_size(), comparison.warnings_size());
  EXPECT_EQ(rebuilt.SerializeAsString().size(), comparison.SerializeAsString().size());
}

TEST(AllowUnequalTest, TellsTheDifferenceAndKeepsRunsApart) {
  std::vector<RunResult> runs = TwoNetworks();
  const ComparisonResult comparison =
      BuildComparison(runs, {}, SampleProvenance(), {}, Inequality::kAllowed);
  EXPECT_TRUE(AllGatesPassed(comparison));
  EXPECT_THAT(comparison.gates(1).detail(),
              StartsWith("differences are allowed by --allow_unequal: network is \"10gbit\""));
  EXPECT_THAT(comparison.warnings(), Contains(StartsWith("Unequal runs: differences are allowed")));
  EXPECT_EQ(comparison.cells_size(), 4);
  EXPECT_TRUE(comparison.allow_unequal());
  EXPECT_EQ(RebuildComparison(comparison).cells_size(), 4);
}

TEST(AllowUnequalTest, OtherBuildsAreOtherPoints) {
  std::vector<RunResult> runs = {RunWith("ring", {}, 0.010, 4, 0),
                                 RunWith("ring", {}, 0.020, 4, 0)};
  runs[1].mutable_provenance()->set_build_commit("fffffff");
  const ComparisonResult comparison =
      BuildComparison(runs, {}, SampleProvenance(), {}, Inequality::kAllowed);
  ASSERT_EQ(comparison.cells_size(), 2);
  EXPECT_EQ(comparison.cells(1).point().at("build commit"), "fffffff");
}

TEST(AllowUnequalTest, StrategiesThatDifferAreStillCompared) {
  std::vector<RunResult> runs;
  for (int trial = 0; trial < 2; ++trial) {
    runs.push_back(RunWith("ps", {{"threads", "1"}}, 0.020, 4, trial));
    runs.push_back(RunWith("ring", {{"threads", "2"}}, 0.010, 4, trial));
  }
  EXPECT_FALSE(AllGatesPassed(Sweep(runs, {})));
  const ComparisonResult comparison =
      BuildComparison(runs, {}, SampleProvenance(), {}, Inequality::kAllowed);
  EXPECT_THAT(comparison.verdict(0), HasSubstr("ring is 2.00 times as fast as ps"));
}

TEST(SettingsHeededTest, WhatAStrategyTakesNoNoticeOfIsItsOwn) {
  const std::vector<RunResult> runs = {RunWith("ps", {{"ring_link", "auto"}}),
                                       RunWith("ring", {{"ring_link", "tcp"}}),
                                       RunWith("local", {{"network", ""}})};
  EXPECT_TRUE(Sweep(runs, {}).gates(1).passed()) << Sweep(runs, {}).gates(1).detail();
  const std::vector<RunResult> rings = {RunWith("ring", {{"ring_link", "auto"}}),
                                        RunWith("ring", {{"ring_link", "tcp"}})};
  EXPECT_FALSE(Sweep(rings, {}).gates(1).passed());
}

TEST(WarmUpTest, NoneIsTold) {
  RunResult run = RunWith("ring", {});
  EXPECT_THAT(Sweep({run}, {}).warnings(), Not(Contains(StartsWith("No warm-up"))));
  run.set_warmup_steps(0);
  EXPECT_THAT(Sweep({run}, {}).warnings(),
              Contains(AllOf(StartsWith("No warm-up"), HasSubstr("ring with 4 workers"))));
}

}  // namespace
}  // namespace ringside
