#include "experiments/report/sections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_join.h"
#include "experiments/report/comparison.h"
#include "experiments/report/forecast_tables.h"
#include "experiments/report/network_table.h"
#include "experiments/report/plain_words.h"
#include "experiments/report/process_tables.h"
#include "experiments/report/resources.h"
#include "experiments/report/scaling_table.h"
#include "experiments/report/setting_text.h"
#include "experiments/report/skew_sentences.h"
#include "experiments/report/training_time.h"
#include "tests/experiments/report/sample_runs.h"
#include "tests/experiments/report/sample_sweep.h"

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const ComparisonResult& Sweep() {
  static const auto* const sweep = new ComparisonResult(SampleSweep(2, 6));
  return *sweep;
}

std::vector<std::string> Titles(const Table& table) {
  std::vector<std::string> titles;
  for (const Column& column : table.columns) titles.push_back(column.title);
  return titles;
}

// The text of a row's field below the column of that title.
std::string FieldAt(const Table& table, size_t row, const std::string& title) {
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].title == title) return table.rows.at(row)[i].text;
  }
  return "no such column";
}

TEST(SectionsTest, OfASweepInTheOrderOfTheReport) {
  std::vector<std::string> ids;
  for (const Section& section : Sections(Sweep())) ids.push_back(section.id);
  EXPECT_THAT(ids, ElementsAre("gates", "speed", "training", "step", "wire", "processes", "shards",
                               "skew", "network", "sensitivity", "learning", "model", "provenance",
                               "command", "settings"));
}

TEST(SectionsTest, WhatThereIsNothingOfIsLeftOut) {
  for (const Section& section : Sections(BuildComparison({MakeRun({})}, {}, {}))) {
    for (const char* absent : {"network", "model", "shards", "command"})
      EXPECT_NE(section.id, absent);
  }
}

TEST(ScalingTableTest, TellsWhatEachCellWas) {
  const Table table = ScalingTable(Sweep());
  EXPECT_EQ(absl::StrJoin(Titles(table), "|"),
            "Workers|Strategy|Network|Shards|Placement|Batch per rank|Global batch|Samples/s|per "
            "host|per core|Speed-up|Efficiency|Step, p50|p90|p99|CV|Threads / cores");
  EXPECT_EQ(FieldAt(table, 0, "Network"), "100mbit,100us");
  EXPECT_EQ(FieldAt(table, 0, "Placement"), "dedicated");
  EXPECT_EQ(FieldAt(table, 1, "Placement"), "–");
  EXPECT_EQ(FieldAt(table, 0, "Batch per rank"), "64");
  // Without servers there is no column for them.
  EXPECT_THAT(Titles(ScalingTable(BuildComparison({MakeRun({})}, {}, {}))),
              AllOf(Not(::testing::Contains("Shards")), Not(::testing::Contains("Placement"))));
}

TEST(ResourcesTest, CountHostsAndCores) {
  RunResult run = MakeRun({});
  EXPECT_EQ(ResourcesOf(run).hosts, 1);
  EXPECT_EQ(ResourcesOf(run).cores, 2);
  run.mutable_worker_results(1)->mutable_process()->set_hostname("bench-02");
  EXPECT_EQ(ResourcesOf(run).hosts, 2);
  EXPECT_EQ(ResourcesOf(run).cores, 4);
  // Emulated hosts share the machine's cores.
  run.mutable_worker_results(1)->mutable_process()->set_hostname("bench-01");
  for (const char* host : {"worker 0", "worker 1", "shard 0"})
    run.mutable_network()->add_hosts(host);
  EXPECT_EQ(ResourcesOf(run).hosts, 3);
  EXPECT_EQ(ResourcesOf(run).cores, 2);
}

TEST(TrainingTimeTest, NamesTheStallOfSavingApart) {
  SampleRun sample;
  sample.steps = 10;
  sample.step_s = 0.5;
  sample.checkpoints = 5;
  const RunResult run = MakeRun(sample);
  EXPECT_DOUBLE_EQ(TrainingSeconds(run), 5.01);
  EXPECT_DOUBLE_EQ(SavingStallSeconds(run), 0.01);
  const Table table = TrainingTimeTable(BuildComparison({run}, {}, {}));
  EXPECT_EQ(FieldAt(table, 0, "Training time"), "5.01 s");
  EXPECT_EQ(FieldAt(table, 0, "of it, standing still to save"), "10.0 ms");
  EXPECT_EQ(FieldAt(table, 0, "Checkpoints"), "5");
  EXPECT_EQ(FieldAt(table, 0, "Written behind, each"), "40.0 ms");
  EXPECT_THAT(TrainingTimeFigure(BuildComparison({run}, {}, {})).csv,
              HasSubstr("\nring,2,,5.01,5.01,5.01,0.01,5\n"));
}

TEST(TrainingTimeTest, IsOfTheSlowestRankAndNeedsSome) {
  RunResult run = MakeRun({});
  run.mutable_worker_results(0)->set_train_s(3);
  run.mutable_worker_results(1)->set_train_s(4);
  EXPECT_DOUBLE_EQ(TrainingSeconds(run), 4);
  for (WorkerResult& worker : *run.mutable_worker_results()) worker.clear_train_s();
  EXPECT_TRUE(TrainingTimeTable(BuildComparison({run}, {}, {})).empty());
}

TEST(WireTableTest, HoldsMessagesAgainstTheirFormulaToo) {
  RunResult run = MakeRun({});
  EXPECT_EQ(FieldAt(WireTable(BuildComparison({run}, {}, {})), 0, "Messages ÷ formula"),
            "1 exactly");
  Traffic& traffic = *run.mutable_worker_results(0)->mutable_traffic();
  traffic.set_messages_received(traffic.messages_received() * 3);
  const Table table = WireTable(BuildComparison({run}, {}, {}));
  EXPECT_EQ(FieldAt(table, 0, "Messages ÷ formula"), "×1.5");
  EXPECT_EQ(FieldAt(table, 0, "Bytes ÷ formula"), "1 exactly");
}

TEST(SkewSentencesTest, SumUpTheCellsOfASweep) {
  EXPECT_THAT(SlowRankSentences(Sweep()),
              ElementsAre(AllOf(
                  HasSubstr("With 4 workers, rank 3 is chronically slow in 6 of 6 cells: "
                            "by 12.0 ms, as in "),
                  HasSubstr(" with 4 workers, network "), HasSubstr(", where its own work"))));
}

TEST(NetworkTableTest, HoldsWhatWasGotAgainstWhatWasAsked) {
  const Table table = NetworkTable(Sweep());
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(FieldAt(table, 0, "Asked: bandwidth"), "100 Mbit/s");
  EXPECT_EQ(FieldAt(table, 0, "Got"), "94.8 Mbit/s");
  EXPECT_EQ(FieldAt(table, 0, "Slowest link"), "shard 0 → worker 0");
  EXPECT_EQ(FieldAt(table, 0, "Runs"), "8");
  EXPECT_EQ(table.rows[0][2].kind, Field::Kind::kPass);
  RunResult slow = Sweep().runs(0);
  for (LinkProbe& probe : *slow.mutable_network()->mutable_probes()) probe.set_bandwidth_mbit(60);
  EXPECT_EQ(NetworkTable(BuildComparison({slow}, {}, {})).rows[0][2].kind, Field::Kind::kFail);
  EXPECT_TRUE(NetworkTable(BuildComparison({MakeRun({})}, {}, {})).empty());
}

TEST(SettingTextTest, PutsSettingsIntoWords) {
  EXPECT_EQ(SettingTitle("bucket_bytes"), "Bucket");
  EXPECT_EQ(SettingValueText("bucket_bytes", "4194304"), "4.00 MiB");
  EXPECT_EQ(SettingValueText("network", ""), "none");
  EXPECT_EQ(SettingNumberText("latency_us", 100), "100 µs");
  EXPECT_EQ(SettingNumberText("workers", 3.5), "3.50 workers");
}

TEST(ForecastTest, TestsTheModelByWhatItHasNotSeen) {
  Forecast forecast;
  const auto add = [&forecast](double predicted, double measured, bool in_fit) {
    ForecastRow& row = *forecast.add_rows();
    row.set_predicted_s(predicted);
    if (measured > 0) row.mutable_measured_s()->set_median(measured);
    row.set_in_fit(in_fit);
  };
  add(1.5, 1, true);  // the fit's own errors do not count
  add(1.1, 1, false);
  add(0.8, 1, false);
  add(1.04, 1, false);
  add(7, 0, false);  // not measured
  const HeldOutErrors errors = HeldOutErrorsOf(forecast);
  EXPECT_EQ(errors.rows, 3);
  EXPECT_NEAR(errors.median, 0.1, 1e-12);
  EXPECT_NEAR(errors.worst, 0.2, 1e-12);
}

TEST(ForecastTest, TableHasHeldOutRowsFirst) {
  const Table table = ForecastTable(Sweep());
  ASSERT_EQ(table.rows.size(), 14u);
  EXPECT_EQ(FieldAt(table, 0, "Measurement"), "held out");
  EXPECT_EQ(FieldAt(table, 3, "Measurement"), "held out");
  EXPECT_EQ(FieldAt(table, 4, "Measurement"), "seen by the fit");
  EXPECT_EQ(FieldAt(table, 13, "Measurement"), "not measured");
  EXPECT_EQ(FieldAt(table, 13, "Measured"), "–");
  EXPECT_EQ(FieldAt(table, 0, "Set-up"), "network 400mbit,100us, dedicated, 1 shard");
  EXPECT_THAT(ForecastSentences(Sweep()),
              ElementsAre(HasSubstr("Against 4 measurements that the fit")));
  EXPECT_THAT(ForecastSentences(BuildComparison({MakeRun({})}, {}, {})), IsEmpty());
  EXPECT_EQ(ForecastFigure(BuildComparison({MakeRun({})}, {}, {})).csv, "");
}

Contrast MakeContrast(const std::string& faster, double ratio, bool significant) {
  Contrast contrast;
  contrast.set_workers(2);
  contrast.set_faster(faster);
  contrast.set_slower(faster == "ps" ? "ring" : "ps");
  contrast.mutable_ratio()->set_median(ratio);
  contrast.set_trials(5);
  contrast.set_significant(significant);
  return contrast;
}

TEST(PlainVerdictTest, SumsUpWhatAllComparisonsSay) {
  ComparisonResult comparison;
  *comparison.add_contrasts() = MakeContrast("ring", 1.5, true);
  EXPECT_THAT(PlainVerdict(comparison), IsEmpty());  // one line says it already
  *comparison.add_contrasts() = MakeContrast("ring", 2.25, true);
  EXPECT_THAT(
      PlainVerdict(comparison),
      ElementsAre("ring was faster than ps in all 2 comparisons (1.50 to 2.25 times as fast)."));
  *comparison.add_contrasts() = MakeContrast("ps", 1.1, true);
  *comparison.add_contrasts() = MakeContrast("ps", 1.01, false);
  EXPECT_THAT(
      PlainVerdict(comparison),
      ElementsAre("ps was faster than ring in 1 of 4 comparisons (1.10 times as fast); ring was "
                  "faster than ps in 2 of 4 comparisons (1.50 to 2.25 times as fast); 1 showed "
                  "no significant difference."));
  comparison.add_gates()->set_passed(false);
  EXPECT_THAT(PlainVerdict(comparison), IsEmpty());
}

TEST(PlainVerdictTest, TwoThatMetOnceHaveNoPlural) {
  ComparisonResult comparison;
  *comparison.add_contrasts() = MakeContrast("ring", 1.5, true);
  *comparison.add_contrasts() = MakeContrast("ring", 2, true);
  comparison.mutable_contrasts(1)->set_slower("local");
  EXPECT_THAT(PlainVerdict(comparison),
              Contains("ring was faster than ps in their only comparison (1.50 times as fast)."));
}

TEST(GlossaryTest, ExplainsEverySeries) {
  std::vector<std::string> words;
  for (const Explained& entry : Glossary(Sweep())) {
    words.push_back(entry.what);
    EXPECT_NE(entry.meaning, "");
  }
  EXPECT_THAT(words, ElementsAre("ps", "ring", "step", "95 % interval"));
  EXPECT_THAT(Glossary(ComparisonResult()), IsEmpty());
}

}  // namespace
}  // namespace ringside
