#include "experiments/report/sensitivity_figure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "experiments/report/comparison.h"
#include "experiments/report/figures.h"
#include "experiments/report/gnuplot.h"
#include "experiments/report/svg_theme.h"
#include "tests/experiments/report/sample_runs.h"

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::SizeIs;

RunResult RunAt(const std::string& strategy, const std::string& setting, const std::string& value,
                double step_s, int64_t trial, int workers = 4) {
  SampleRun sample;
  sample.strategy = strategy;
  sample.workers = workers;
  sample.batch_size = 128 / workers;
  sample.trial = trial;
  sample.step_s = step_s;
  sample.noise = 0.02;
  RunResult run = MakeRun(sample);
  (*run.mutable_settings())[setting] = value;
  return run;
}

ComparisonResult Bandwidths(const std::vector<int>& worker_counts = {4}) {
  std::vector<RunResult> runs;
  for (int trial = 0; trial < 3; ++trial) {
    for (int workers : worker_counts) {
      for (double mbit : {100.0, 400.0, 2000.0}) {
        const std::string network = std::to_string(static_cast<int>(mbit)) + "mbit,50us";
        runs.push_back(RunAt("ps", "network", network, 8 / mbit, trial, workers));
        runs.push_back(RunAt("ring", "network", network, 0.008 + 3 / mbit, trial, workers));
      }
    }
  }
  return BuildComparison(runs, {}, SampleProvenance(), {"", {"network"}, {}});
}

void ExpectDraws(const Figure& figure) {
  std::string folder = ::testing::TempDir() + "sensitivity_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const auto raw = DrawSvg(figure, folder);
  EXPECT_TRUE(raw.ok()) << raw.status();
  if (raw.ok()) {
    EXPECT_TRUE(InlineSvg(figure, *raw).ok());
  }
  std::filesystem::remove_all(folder);
}

TEST(SensitivityFigureTest, ACurveForEachSeriesAndTheCrossover) {
  const ComparisonResult comparison = Bandwidths();
  ASSERT_EQ(comparison.crossovers_size(), 1);
  const std::vector<Figure> figures = SensitivityFigures(comparison);
  ASSERT_THAT(figures, SizeIs(1));
  const Figure& figure = figures[0];
  EXPECT_EQ(figure.name, "sensitivity_network");
  EXPECT_EQ(figure.title, "Step time by network bandwidth");
  EXPECT_THAT(figure.script, AllOf(HasSubstr("set logscale x"), HasSubstr("set arrow from first"),
                                   HasSubstr("set object 1 rectangle"), HasSubstr("Mbit/s'")));
  EXPECT_THAT(figure.caption, HasSubstr("Crossover along network bandwidth, 4 workers: ring is"));
  EXPECT_THAT(figure.csv, HasSubstr("series,workers,point,network,step_s_low,step_s_median,"));
  EXPECT_THAT(figure.csv, HasSubstr("\nps,4,\"network 100mbit,50us\",\"100mbit,50us\","));
  ExpectDraws(figure);
}

TEST(SensitivityFigureTest, AFigureForEachNumberOfWorkersTheLargestFirst) {
  const std::vector<Figure> figures = SensitivityFigures(Bandwidths({2, 4}));
  ASSERT_THAT(figures, SizeIs(2));
  EXPECT_THAT(figures[0].caption, HasSubstr("4 workers. Median"));
  EXPECT_EQ(figures[1].name, "sensitivity_network_2");
  EXPECT_THAT(figures[1].caption, HasSubstr("2 workers. Median"));
}

TEST(SensitivityFigureTest, NoneWithoutASweep) {
  EXPECT_THAT(
      SensitivityFigures(BuildComparison(SampleGrid(2, 30), SampleCommand(), SampleProvenance())),
      IsEmpty());
}

TEST(SensitivityFigureTest, WordsStandBesideEachOther) {
  std::vector<RunResult> runs;
  for (int trial = 0; trial < 2; ++trial) {
    runs.push_back(RunAt("ps", "placement", "dedicated", 0.010, trial));
    runs.push_back(RunAt("ps", "placement", "colocated", 0.012, trial));
    runs.push_back(RunAt("ring", "placement", "dedicated", 0.011, trial));
  }
  const std::vector<Figure> figures =
      SensitivityFigures(BuildComparison(runs, {}, SampleProvenance(), {"", {"placement"}, {}}));
  ASSERT_THAT(figures, SizeIs(1));
  EXPECT_EQ(figures[0].name, "sensitivity_placement");
  EXPECT_THAT(figures[0].script, AllOf(HasSubstr("'dedicated' 1"), Not(HasSubstr("logscale"))));
  EXPECT_THAT(figures[0].caption, HasSubstr("Dotted: ring, which takes no notice"));
  ExpectDraws(figures[0]);
}

TEST(SensitivityFigureTest, AFewNumbersHaveALinearAxis) {
  std::vector<RunResult> runs;
  for (int trial = 0; trial < 2; ++trial) {
    for (const char* threads : {"1", "2", "4"})
      runs.push_back(RunAt("ring", "threads", threads, 0.010, trial));
  }
  const std::vector<Figure> figures =
      SensitivityFigures(BuildComparison(runs, {}, SampleProvenance(), {"", {"threads"}, {}}));
  ASSERT_THAT(figures, SizeIs(1));
  EXPECT_THAT(figures[0].script, Not(HasSubstr("logscale")));
  ExpectDraws(figures[0]);
}

TEST(SensitivityFigureTest, HostileNamesStayWithinTheFolder) {
  std::vector<RunResult> runs;
  for (int trial = 0; trial < 2; ++trial) {
    for (const char* value : {"1", "it's `2`"})
      runs.push_back(RunAt("ring", "../x y", value, 0.010, trial));
  }
  const std::vector<Figure> figures =
      SensitivityFigures(BuildComparison(runs, {}, SampleProvenance(), {"", {"../x y"}, {}}));
  ASSERT_THAT(figures, SizeIs(1));
  EXPECT_EQ(figures[0].name, "sensitivity____x_y");
  ExpectDraws(figures[0]);
}

TEST(FiguresOfASweepTest, ThoseOverWorkersShowOnePoint) {
  const ComparisonResult comparison = Bandwidths({2, 4});
  const Figure throughput = ThroughputFigure(comparison);
  EXPECT_THAT(throughput.caption,
              HasSubstr("At network 2000mbit,50us; results.csv has the others"));
  EXPECT_EQ(std::count(throughput.csv.begin(), throughput.csv.end(), '\n'), 1 + 4);
  std::vector<std::string> names;
  for (const Figure& figure : Figures(comparison)) names.push_back(figure.name);
  EXPECT_THAT(names, IsSupersetOf({"throughput", "efficiency", "sensitivity_network",
                                   "sensitivity_network_2"}));
}

}  // namespace
}  // namespace ringside
