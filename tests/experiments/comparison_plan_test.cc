#include "experiments/comparison_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

JobConfig Base() {
  JobConfig base;
  base.steps = 10;
  base.batch_size = 8;
  base.out = "out";
  return base;
}

TEST(ComparisonPlanTest, FixesTheGlobalBatchAndNamesTheFolders) {
  ExperimentConfig experiment;
  experiment.strategies = {"ps", "ring"};
  experiment.worker_counts = {1, 2};
  experiment.trials = 2;
  const auto steps = PlanComparison(experiment, Base());
  ASSERT_TRUE(steps.ok()) << steps.status();
  ASSERT_EQ(steps->size(), 8u);
  for (const ComparisonStep& step : *steps) EXPECT_EQ(step.job.global_batch_size(), 16);
  const ComparisonStep& third = (*steps)[2];
  EXPECT_EQ(third.title, "[3/8] ring, 1 worker, trial 2");
  EXPECT_EQ(third.job.out, "out/runs/ring-w1-t2");
  EXPECT_EQ(third.job.strategy, "ring");
  EXPECT_EQ(third.job.workers, 1);
  EXPECT_EQ(third.job.trial, 2);
  EXPECT_EQ(third.job.batch_size, 16);
}

TEST(ComparisonPlanTest, EachRunHasItsOwnFolderForTensorBoard) {
  ExperimentConfig experiment;
  experiment.strategies = {"ring", "local"};
  experiment.worker_counts = {2};
  experiment.trials = 1;
  JobConfig base = Base();
  EXPECT_EQ((*PlanComparison(experiment, base))[0].job.tensorboard_dir, "");
  base.tensorboard_dir = "events";
  const auto steps = PlanComparison(experiment, base);
  ASSERT_TRUE(steps.ok()) << steps.status();
  EXPECT_EQ((*steps)[0].job.tensorboard_dir, "events/ring-w2-t1");
  EXPECT_EQ((*steps)[1].job.tensorboard_dir, "events/local-w2-t1");
}

TEST(ComparisonPlanTest, RefusesBadJobsAndBadExperiments) {
  ExperimentConfig experiment;
  JobConfig base = Base();
  base.batch_size = 0;
  EXPECT_EQ(PlanComparison(experiment, base).status().message(),
            "--batch_size=0: must be at least 1");
  base = Base();
  base.steps = 0;
  EXPECT_EQ(PlanComparison(experiment, base).status().message(),
            "--steps=0 and --epochs=0: exactly one of them must be positive");
  experiment.trials = -1;
  EXPECT_EQ(PlanComparison(experiment, Base()).status().message(),
            "--trials=-1: must be at least 1");
}

}  // namespace
}  // namespace ringside
