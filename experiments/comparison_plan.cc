#include "experiments/comparison_plan.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "experiments/launch_limit.h"

namespace ringside {

absl::StatusOr<std::vector<ComparisonStep>> PlanComparison(const ExperimentConfig& experiment,
                                                           const JobConfig& base) {
  RINGSIDE_RETURN_IF_ERROR(experiment.Validate());
  // Before the batch is divided: a message about a derived batch would hide what the user got
  // wrong.
  JobConfig sample = base;
  sample.workers = 1;
  sample.stragglers.clear();  // of ranks that there may be
  RINGSIDE_RETURN_IF_ERROR(sample.Validate());
  std::vector<ComparisonStep> steps;
  const std::vector<PlannedJob> order =
      MakeTrialOrder(experiment.strategies, experiment.worker_counts, experiment.trials);
  for (const PlannedJob& planned : order) {
    ComparisonStep step;
    step.planned = planned;
    step.job = base;
    step.job.strategy = planned.strategy;
    step.job.workers = planned.workers;
    step.job.trial = planned.trial;
    RINGSIDE_ASSIGN_OR_RETURN(step.job.batch_size,
                              experiment.BatchSize(base.batch_size, planned.workers));
    step.job.out = absl::StrCat(base.out, "/runs/", FolderName(planned));
    if (!base.tensorboard_dir.empty()) {
      step.job.tensorboard_dir = absl::StrCat(base.tensorboard_dir, "/", FolderName(planned));
    }
    step.title = absl::StrCat("[", steps.size() + 1, "/", order.size(), "] ", Title(planned));
    RINGSIDE_RETURN_IF_ERROR(step.job.Validate());
    RINGSIDE_RETURN_IF_ERROR(RequireLaunchable(step.job));
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace ringside
