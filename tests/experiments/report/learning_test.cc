#include "experiments/report/learning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/report/comparison.h"
#include "experiments/report/learning_figures.h"
#include "tests/experiments/report/sample_runs.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<LossPoint> Curve(const std::vector<double>& losses) {
  std::vector<LossPoint> curve;
  for (const double loss : losses) {
    const auto step = static_cast<int64_t>(curve.size()) + 1;
    curve.push_back({step, 0.5 * static_cast<double>(step), loss});
  }
  return curve;
}

TEST(LearningTest, TheTargetIsWhatAllReach) {
  // Too few for a mean of several: windows of 1.
  EXPECT_DOUBLE_EQ(*CommonTarget({Curve({2, 1, 0.5, 0.7}), Curve({2, 1.234, 1.5})}), 1.3);
  EXPECT_DOUBLE_EQ(*CommonTarget({Curve({0.0504})}), 0.051);
  EXPECT_DOUBLE_EQ(*CommonTarget({Curve({3})}), 3);
  EXPECT_FALSE(CommonTarget({}).has_value());
  EXPECT_FALSE(CommonTarget({Curve({1}), {}}).has_value());
}

TEST(LearningTest, ATargetIsReachedByTheMeanOfSomeSteps) {
  std::vector<double> losses(20, 1.0);
  losses[4] = 0.1;  // alone: the mean of two is 0.55
  losses[10] = losses[11] = 0.2;
  const auto reached = FirstAtOrBelow(Curve(losses), 0.3);
  ASSERT_TRUE(reached.has_value());
  EXPECT_EQ(reached->step, 12);
  EXPECT_DOUBLE_EQ(reached->time_s, 6);
  EXPECT_FALSE(FirstAtOrBelow(Curve(losses), 0.1).has_value());
  EXPECT_EQ(SmoothingWindow(5), 1);
  EXPECT_EQ(SmoothingWindow(100000), 20);
}

TEST(LearningTest, ACurveAddsUpTheTimesOfSteps) {
  SampleRun sample;
  sample.steps = 3;
  sample.step_s = 0.5;
  const std::vector<LossPoint> curve = LossCurve(MakeRun(sample));
  ASSERT_EQ(curve.size(), 3u);
  EXPECT_DOUBLE_EQ(curve[2].time_s, 1.5);
}

TEST(LearningTest, AWorkloadWithoutLossesHasNoCurve) {
  RunResult run = MakeRun({});
  for (WorkerResult& worker : *run.mutable_worker_results()) {
    for (StepRecord& step : *worker.mutable_steps()) step.set_loss(0);
  }
  EXPECT_THAT(LossCurve(run), IsEmpty());
  EXPECT_TRUE(TargetTable(BuildComparison({run}, {}, {})).empty());
}

TEST(LearningTest, EqualCurvesOfASweepAreShownOnce) {
  std::vector<Cell> cells;
  std::vector<RunResult> runs = {MakeRun({})};
  for (const char* network : {"100mbit", "1gbit"}) {
    Cell& cell = cells.emplace_back();
    cell.set_strategy("ring");
    cell.set_workers(2);
    (*cell.mutable_point())["network"] = network;
    (*runs[0].mutable_settings())["network"] = network;
  }
  // Both cells have the one run, so the bits are the same.
  const auto curves = ChosenCurves(cells, {MakeRun({})}, SeriesNames(cells));
  EXPECT_LE(curves.size(), 1u);
}

TEST(TargetTableTest, SaysWhenEachSeriesGetsThere) {
  std::vector<RunResult> runs;
  for (const double step_s : {0.010, 0.020}) {
    SampleRun sample;
    sample.strategy = step_s > 0.015 ? "ps" : "ring";
    sample.steps = 100;
    sample.step_s = step_s;
    runs.push_back(MakeRun(sample));
  }
  const Table table = TargetTable(BuildComparison(runs, {}, {}));
  ASSERT_EQ(table.rows.size(), 2u);
  const size_t steps = 3;  // after workers, strategy, target
  EXPECT_EQ(table.columns[steps].title, "Steps to it");
  EXPECT_EQ(table.rows[0][steps].text, table.rows[1][steps].text);  // they learn alike
  const std::vector<Field>& ps = table.rows[0];
  const std::vector<Field>& ring = table.rows[1];
  EXPECT_EQ(ps[1].text, "ps");
  EXPECT_NE(ps[steps + 1].text, ring[steps + 1].text);  // but not at the same pace
}

TEST(LearningFiguresTest, LossOverTimeKeepsStepAndTime) {
  const Figure figure = LossOverTimeFigure(BuildComparison({MakeRun({})}, {}, {}));
  EXPECT_THAT(figure.csv,
              HasSubstr("workers,series,point,trial,step,time_s,loss\n2,ring,,0,1,0.01,2.4"));
  EXPECT_THAT(figure.script, HasSubstr("'seconds'"));
}

TEST(LearningFiguresTest, StalenessIsDrawnWhereThereIsAny) {
  SampleRun sample;
  sample.strategy = "ps async";
  const Figure figure = StalenessFigure(BuildComparison({MakeRun(sample)}, {}, {}));
  EXPECT_THAT(figure.csv, HasSubstr("\nps async,2,,0,0,120\n"));
  EXPECT_THAT(figure.csv, HasSubstr("\nps async,2,,3,1,4\n"));
  EXPECT_EQ(StalenessFigure(BuildComparison({MakeRun({})}, {}, {})).csv, "");
}

}  // namespace
}  // namespace ringside
