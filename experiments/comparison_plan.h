// The jobs of a comparison with all their settings. Pure.
#ifndef RINGSIDE_EXPERIMENTS_COMPARISON_PLAN_H_
#define RINGSIDE_EXPERIMENTS_COMPARISON_PLAN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/config/job_config.h"
#include "experiments/experiment_config.h"
#include "experiments/trial_order.h"

namespace ringside {

struct ComparisonStep {
  PlannedJob planned;
  JobConfig job;      // its `out` is <out of the base>/runs/<FolderName>
  std::string title;  // "[3/27] ring, 2 workers, trial 1"
};

// In the order of MakeTrialOrder. `base` holds the settings that all jobs share. INVALID_ARGUMENT:
// the experiment or one of the jobs is not valid (Validate), or the global batch does not divide.
absl::StatusOr<std::vector<ComparisonStep>> PlanComparison(const ExperimentConfig& experiment,
                                                           const JobConfig& base);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_COMPARISON_PLAN_H_
