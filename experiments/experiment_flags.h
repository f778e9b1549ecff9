// The flags that `ringside` has beyond those of a job: parsed here and nowhere else.
#ifndef RINGSIDE_EXPERIMENTS_EXPERIMENT_FLAGS_H_
#define RINGSIDE_EXPERIMENTS_EXPERIMENT_FLAGS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/config/flag_parser.h"
#include "experiments/experiment_config.h"
#include "experiments/inequality.h"

namespace ringside {

// INVALID_ARGUMENT: --workers is no list of numbers. Does not validate otherwise.
absl::StatusOr<ExperimentConfig> ExperimentConfigFromFlags();

// --checkpoint
std::string CheckpointFromFlags();

// --bandwidth, --latency, --parameters, --compute, --mtbf, --restart_cost, --checkpoint_cost: as
// they were told; empty: not.
struct PredictionFlags {
  std::string bandwidth;
  std::string latency;
  std::string parameters;
  std::string compute;
  std::string mtbf;
  std::string restart_cost;
  std::string checkpoint_cost;
};
PredictionFlags PredictionFromFlags();

// --overwrite
bool OverwriteFromFlags();

// --allow_unequal
Inequality InequalityFromFlags();

// --tolerance. INVALID_ARGUMENT: negative or no number.
absl::StatusOr<double> ToleranceFromFlags();

// --dry_run
bool DryRunFromFlags();

// INVALID_ARGUMENT: a flag was given that `command` ("run", "compare", ...) does not act on; says
// which does.
absl::Status RequireFlagsOf(absl::string_view command, const CommandLine& command_line);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_EXPERIMENT_FLAGS_H_
