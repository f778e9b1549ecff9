// The flags that `ringside` has beyond those of a job: parsed here and nowhere else.
#ifndef RINGSIDE_EXPERIMENTS_EXPERIMENT_FLAGS_H_
#define RINGSIDE_EXPERIMENTS_EXPERIMENT_FLAGS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/config/flag_parser.h"
#include "experiments/experiment_config.h"

namespace ringside {

// INVALID_ARGUMENT: --workers is no list of numbers. Does not validate otherwise.
absl::StatusOr<ExperimentConfig> ExperimentConfigFromFlags();

// --checkpoint
std::string CheckpointFromFlags();

// --overwrite
bool OverwriteFromFlags();

// --dry_run
bool DryRunFromFlags();

// INVALID_ARGUMENT: a flag was given that `command` ("run", "compare", ...) does not act on; says
// which does.
absl::Status RequireFlagsOf(absl::string_view command, const CommandLine& command_line);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_EXPERIMENT_FLAGS_H_
