#include "experiments/report/skew.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/report/comparison.h"
#include "experiments/report/skew_tables.h"
#include "tests/experiments/report/sample_runs.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Own work of each rank in seconds, one row for each step; who is done first waits for the last.
RunResult RunWith(const std::vector<std::vector<double>>& own_s) {
  RunResult run;
  run.set_strategy("ring");
  run.set_workers(static_cast<int>(own_s.front().size()));
  for (int rank = 0; rank < run.workers(); ++rank) {
    WorkerResult& worker = *run.add_worker_results();
    worker.set_rank(rank);
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
    }
  }
  return run;
}

TEST(SkewTest, ARankThatIsSlowMostOfTheTimeIsChronic) {
  const RunResult run = RunWith({{10, 60, 10}, {10, 61, 11}, {12, 10, 12}});
  const Skew skew = SkewOf({&run});
  ASSERT_EQ(skew.ranks.size(), 3u);
  EXPECT_EQ(skew.steps, 3);
  EXPECT_TRUE(skew.ranks[1].chronic);
  EXPECT_FALSE(skew.ranks[0].chronic);
  EXPECT_FALSE(skew.ranks[2].chronic);
  EXPECT_EQ(skew.ranks[1].slow_steps, 2);
  EXPECT_DOUBLE_EQ(skew.ranks[1].behind_s, 50);  // 60 - 10, 61 - 10.5, 10 - 12
  EXPECT_DOUBLE_EQ(skew.ranks[0].wait_s, (50 + 51 + 0) / 3.0);
  EXPECT_DOUBLE_EQ(skew.median_spread_s, 50);
  EXPECT_THAT(skew.once, IsEmpty());  // its slow steps are no exception
}

TEST(SkewTest, OfTwoRanksOneIsSlowerWithoutBeingSlow) {
  const RunResult run = RunWith({{10, 10.5}, {10, 10.5}, {10, 10.9}});
  const Skew skew = SkewOf({&run});
  EXPECT_FALSE(skew.ranks[1].chronic);
  EXPECT_EQ(skew.ranks[1].slow_steps, 0);
}

TEST(SkewTest, AStepThatTookFarLongerIsSlowOnce) {
  const RunResult run = RunWith({{10, 10}, {10, 10}, {25, 10}, {10, 90}});
  const Skew skew = SkewOf({&run});
  ASSERT_EQ(skew.once.size(), 2u);
  EXPECT_EQ(skew.once[0].rank, 1);
  EXPECT_EQ(skew.once[0].step, 4);
  EXPECT_DOUBLE_EQ(skew.once[0].own_s, 90);
  EXPECT_DOUBLE_EQ(skew.once[0].others_s, 10);
  EXPECT_EQ(skew.once[1].rank, 0);
}

TEST(SkewTest, LeavesOutTheWarmUpAndStepsThatSomeDidNotTake) {
  RunResult run = RunWith({{10, 90}, {10, 10}, {10, 90}});
  run.set_warmup_steps(1);
  run.mutable_worker_results(0)->mutable_steps()->RemoveLast();
  const Skew skew = SkewOf({&run});
  EXPECT_EQ(skew.steps, 1);
  EXPECT_EQ(skew.ranks[1].slow_steps, 0);
}

TEST(SkewTest, OfOneProcessThereIsNone) {
  const RunResult run = RunWith({{10}, {10}});
  EXPECT_THAT(SkewOf({&run}).ranks, IsEmpty());
  EXPECT_TRUE(SkewTable(BuildComparison({run}, {}, {})).empty());
}

TEST(SkewTablesTest, NameTheRankThatTheOthersWaitFor) {
  SampleRun sample;
  sample.workers = 4;
  sample.slow_rank = 2;
  sample.slow_s = 0.050;
  const ComparisonResult comparison = BuildComparison({MakeRun(sample)}, {}, {});
  EXPECT_THAT(SlowRankSentences(comparison),
              ElementsAre("With 4 workers, rank 2 is chronically slow: its own work takes 50.0 ms "
                          "longer than that of the others."));
  EXPECT_THAT(SlowRankSentences(BuildComparison({MakeRun({})}, {}, {})),
              ElementsAre("No rank is chronically slow."));
  const Table table = SkewTable(comparison);
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0][table.columns.size() - 2].text, "rank 2");
  EXPECT_THAT(SkewFigure(comparison).csv, HasSubstr("\nring,4,,2,"));
}

}  // namespace
}  // namespace ringside
