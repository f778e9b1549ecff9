#include "experiments/report/skew.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "experiments/report/comparison.h"
#include "experiments/report/skew_figure.h"
#include "experiments/report/skew_sentences.h"
#include "experiments/report/skew_tables.h"
#include "tests/experiments/report/sample_runs.h"

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Own work of each rank in seconds, one row for each step; who is done first waits for the last.
// Ranks begin a step together and have the first of their buckets ready after half of their work.
RunResult RunWith(const std::vector<std::vector<double>>& own_s, int64_t trial = 0) {
  RunResult run;
  run.set_strategy("ring");
  run.set_workers(static_cast<int>(own_s.front().size()));
  run.set_trial(trial);
  for (int rank = 0; rank < run.workers(); ++rank) {
    WorkerResult& worker = *run.add_worker_results();
    worker.set_rank(rank);
    double begin_s = 100;
    for (size_t step = 0; step < own_s.size(); ++step) {
      const std::vector<double>& ranks = own_s[step];
      const double last = *std::max_element(ranks.begin(), ranks.end());
      const double own = ranks[static_cast<size_t>(rank)];
      StepRecord& record = *worker.add_steps();
      record.set_step(static_cast<int64_t>(step) + 1);
      record.set_step_s(last);
      record.set_data_s(own / 4);
      record.set_forward_s(own / 4);
      record.set_backward_s(own / 4);
      record.set_optimizer_s(own / 4);
      record.set_exposed_comm_s(last - own);
      record.set_first_ready_at_ns(static_cast<int64_t>((begin_s + own / 2) * 1e9));
      record.set_ready_at_ns(static_cast<int64_t>((begin_s + own) * 1e9));
      begin_s += last;
    }
  }
  return run;
}

RunResult WithoutArrivals(RunResult run) {
  for (WorkerResult& worker : *run.mutable_worker_results()) {
    for (StepRecord& record : *worker.mutable_steps()) {
      record.clear_first_ready_at_ns();
      record.clear_ready_at_ns();
    }
  }
  return run;
}

// The text of the only row's field below the column of that title.
std::string FieldOf(const Table& table, const std::string& title) {
  if (table.rows.size() != 1) return "not one row";
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].title == title) return table.rows[0][i].text;
  }
  return "no such column";
}

TEST(SkewTest, OwnWorkAndWaitingStandBesideArrivals) {
  const RunResult run = RunWith({{10, 60, 10}, {10, 61, 11}, {12, 10, 12}});
  const Skew skew = SkewOf({&run});
  ASSERT_EQ(skew.ranks.size(), 3u);
  EXPECT_EQ(skew.trials, 1);
  EXPECT_EQ(skew.steps, 3);
  EXPECT_TRUE(skew.ranks[1].chronic);
  EXPECT_FALSE(skew.ranks[0].chronic);
  EXPECT_FALSE(skew.ranks[2].chronic);
  EXPECT_EQ(skew.ranks[1].slow_steps, 2);
  EXPECT_NEAR(skew.ranks[1].slow_by_s, 50.25, 1e-6);  // 60 - 10, 61 - 10.5
  EXPECT_DOUBLE_EQ(skew.ranks[0].own_s, 32 / 3.0);
  EXPECT_DOUBLE_EQ(skew.ranks[0].wait_s, (50 + 51 + 0) / 3.0);
  EXPECT_DOUBLE_EQ(OthersOwnSeconds(skew, 1), (32 / 3.0 + 33 / 3.0) / 2);
  EXPECT_NEAR(skew.spread_s, 50, 1e-6);
  EXPECT_NEAR(skew.first_bucket_spread_s, 25, 1e-6);
  EXPECT_THAT(skew.spells, IsEmpty());  // its slow steps are no exception
}

TEST(SkewTest, MostTrialsDecideWhetherARankIsChronicallySlow) {
  const std::vector<std::vector<double>> slow = {{10, 30}, {10, 30}, {10, 30}};
  const std::vector<std::vector<double>> even = {{10, 10}, {10, 10}, {10, 10}};
  const RunResult first = RunWith(slow, 1);
  const RunResult second = RunWith(even, 2);
  const RunResult third = RunWith(slow, 3);
  EXPECT_TRUE(SkewOf({&first, &second, &third}).ranks[1].chronic);
  EXPECT_EQ(SkewOf({&first, &second, &third}).ranks[1].chronic_trials, 2);
  EXPECT_NEAR(SkewOf({&first, &second, &third}).spread_s, 20, 1e-6);
  // In one of two it is not; then that one is listed.
  const Skew half = SkewOf({&first, &second});
  EXPECT_FALSE(half.ranks[1].chronic);
  ASSERT_EQ(half.spells.size(), 1u);
  EXPECT_EQ(half.spells[0].trial, 1);
  EXPECT_EQ(half.spells[0].rank.slowness(), Slowness::kChronic);
  // Trials without arrivals have no voice.
  const RunResult old = WithoutArrivals(second);
  EXPECT_TRUE(SkewOf({&first, &old}).ranks[1].chronic);
  EXPECT_EQ(SkewOf({&first, &old}).trials, 1);
}

TEST(SkewTest, ListsWhoWasSlowAtTimesWithTrialAndStep) {
  const RunResult even = RunWith({{10, 10}, {10, 10}, {10, 10}, {10, 10}, {10, 10}}, 1);
  const RunResult run = RunWith({{10, 10}, {10, 10}, {25, 10}, {10, 10}, {10, 90}}, 2);
  const Skew skew = SkewOf({&even, &run});
  ASSERT_EQ(skew.spells.size(), 2u);
  EXPECT_EQ(skew.spells[0].trial, 2);
  EXPECT_EQ(skew.spells[0].rank.rank, 1);
  EXPECT_EQ(skew.spells[0].rank.slowness(), Slowness::kOnce);
  EXPECT_EQ(skew.spells[0].rank.slowest_step().step, 5);
  EXPECT_NEAR(skew.spells[0].rank.slowest_step().late_s, 80, 1e-6);
  EXPECT_EQ(skew.spells[1].rank.rank, 0);
}

TEST(SkewTest, LeavesOutTheWarmUpAndStepsThatOneRankTookAlone) {
  RunResult run = RunWith({{10, 90}, {10, 10}, {10, 90}});
  run.set_warmup_steps(1);
  run.mutable_worker_results(0)->mutable_steps()->RemoveLast();
  const Skew skew = SkewOf({&run});
  EXPECT_EQ(skew.steps, 1);
  EXPECT_EQ(skew.ranks[1].slow_steps, 0);
  EXPECT_EQ(skew.ranks[1].own_s, 50);
}

TEST(SkewTest, WithoutArrivalsThereIsStillOwnWorkAndWaiting) {
  const RunResult run = WithoutArrivals(RunWith({{11, 61}, {11, 61}}));
  const Skew skew = SkewOf({&run});
  EXPECT_FALSE(skew.recorded());
  ASSERT_EQ(skew.ranks.size(), 2u);
  EXPECT_EQ(skew.ranks[1].own_s, 61);
  EXPECT_EQ(skew.ranks[0].wait_s, 50);
  EXPECT_FALSE(skew.ranks[1].chronic);
  const ComparisonResult comparison = BuildComparison({run}, {}, {});
  const Table table = SkewTable(comparison);
  EXPECT_EQ(FieldOf(table, "First to last, first bucket"), "–");
  EXPECT_EQ(FieldOf(table, "last bucket"), "–");
  EXPECT_EQ(FieldOf(table, "Own work, least"), "11.0 s");
  EXPECT_EQ(FieldOf(table, "Waiting, least"), "0 s");
  EXPECT_EQ(FieldOf(table, "Chronically slow"), "not recorded");
  EXPECT_EQ(FieldOf(table, "Slow at times"), "–");
  EXPECT_THAT(SlowRankSentences(comparison),
              ElementsAre("It is not recorded when ranks had their gradients ready, so that no "
                          "rank is named."));
  EXPECT_TRUE(SlowSpellTable(comparison).empty());
  EXPECT_THAT(SkewFigure(comparison).csv, HasSubstr("\nring,2,,1,61,0,,,,\n"));
}

TEST(SkewTest, OfOneProcessThereIsNone) {
  const RunResult run = RunWith({{10}, {10}});
  EXPECT_THAT(SkewOf({&run}).ranks, IsEmpty());
  EXPECT_TRUE(SkewTable(BuildComparison({run}, {}, {})).empty());
  EXPECT_THAT(SlowRankSentences(BuildComparison({run}, {}, {})), IsEmpty());
}

TEST(SkewTablesTest, NameTheRankThatTheOthersWaitFor) {
  SampleRun sample;
  sample.workers = 4;
  sample.slow_rank = 2;
  sample.slow_s = 0.050;
  const ComparisonResult comparison = BuildComparison({MakeRun(sample)}, {}, {});
  EXPECT_THAT(SlowRankSentences(comparison),
              ElementsAre("With 4 workers, rank 2 is chronically slow: by 50.0 ms; its own work "
                          "takes 57.5 ms, that of the others 7.50 ms."));
  EXPECT_THAT(SlowRankSentences(BuildComparison({MakeRun({})}, {}, {})),
              ElementsAre("No rank is chronically slow."));
  EXPECT_EQ(FieldOf(SkewTable(comparison), "Chronically slow"), "rank 2");
  EXPECT_EQ(FieldOf(SkewTable(comparison), "last bucket"), "50.0 ms");
  EXPECT_TRUE(SlowSpellTable(comparison).empty());
  EXPECT_THAT(SkewFigure(comparison).csv, HasSubstr("\nring,4,,2,"));
  EXPECT_THAT(SkewFigure(comparison).csv, HasSubstr(",20,20,1,1\n"));
  EXPECT_THAT(SkewFigure(comparison).script, HasSubstr("rank 2, slow"));
}

TEST(SkewTablesTest, TellWhichTrialAndStepWereSlow) {
  const std::vector<std::vector<double>> even(30, {10, 10});
  std::vector<std::vector<double>> once = even;
  once[16][1] = 40;
  std::vector<std::vector<double>> often = even;
  for (const size_t step : {2, 4, 6, 8, 10, 12, 14}) often[step][0] = 12;
  const ComparisonResult comparison =
      BuildComparison({RunWith(even, 1), RunWith(once, 2), RunWith(often, 3)}, {}, {});
  EXPECT_THAT(SlowRankSentences(comparison),
              ElementsAre("No rank is chronically slow.",
                          "Slow at times: 8 times in 90 steps a rank was slow that is not "
                          "chronically so. The worst was rank 1 in step 17 of trial 2, ring with 2 "
                          "workers: by 30.0 s."));
  EXPECT_EQ(FieldOf(SkewTable(comparison), "Chronically slow"), "no rank");
  EXPECT_EQ(FieldOf(SkewTable(comparison), "Slow at times"), "8");
  const Table table = SlowSpellTable(comparison);
  std::vector<std::string> rows;
  for (const std::vector<Field>& row : table.rows) {
    std::string text;
    for (const Field& field : row) text += field.text + "|" + field.note + "|";
    rows.push_back(text);
  }
  EXPECT_THAT(rows, ElementsAre("2||ring||2||rank 1||once||1 of 30||17||30.0 s||30.0 s|step 17|",
                                "2||ring||3||rank 0||at times||7 of 30||3, 5, 7, 9, 11, 13, …||"
                                "2.00 s||2.00 s|step 3|"));
}

TEST(SkewTablesTest, SayWhereTheClocksAreNotKnownWellEnough) {
  RunResult run = MakeRun({});  // steps of 10 ms
  const auto set_error = [&run](int64_t error_ns) {
    for (WorkerResult& worker : *run.mutable_worker_results())
      worker.mutable_clock()->mutable_first()->set_error_ns(error_ns);
  };
  const auto last_bucket = [&run] {
    const Table table = SkewTable(BuildComparison({run}, {}, {}));
    return table.rows.at(0).at(3);
  };
  EXPECT_EQ(last_bucket().note, "");
  set_error(100'000);
  EXPECT_EQ(last_bucket().note, "± 200 µs");
  EXPECT_THAT(SlowRankSentences(BuildComparison({run}, {}, {})),
              ElementsAre("No rank is chronically slow."));
  set_error(400'000);
  EXPECT_THAT(SlowRankSentences(BuildComparison({run}, {}, {})),
              ElementsAre("No rank is chronically slow.",
                          "The clocks of two ranks may differ by up to 800 µs, more than 5 % of a "
                          "step: who is late by less is not named."));
}

TEST(SkewTablesTest, CompareOwnWorkWhereRanksAreNotInStep) {
  SampleRun sample;
  sample.strategy = "ps async";
  sample.workers = 3;
  sample.slow_rank = 1;
  sample.slow_s = 0.020;
  const ComparisonResult comparison = BuildComparison({MakeRun(sample)}, {}, {});
  const Table table = SkewTable(comparison);
  EXPECT_EQ(FieldOf(table, "First to last, first bucket"), "–");
  EXPECT_EQ(FieldOf(table, "last bucket"), "20.0 ms");
  EXPECT_EQ(table.rows[0][3].note, "of own work");
  EXPECT_THAT(SlowRankSentences(comparison),
              ElementsAre(AllOf(HasSubstr("rank 1 is chronically slow"), HasSubstr("by 20.0 ms"))));
}

}  // namespace
}  // namespace ringside
