// `ringside run`: one job, its results and its report.
#ifndef RINGSIDE_EXPERIMENTS_RUN_COMMAND_H_
#define RINGSIDE_EXPERIMENTS_RUN_COMMAND_H_

#include "experiments/command_context.h"

namespace ringside {

// Returns the exit status. Call BlockJobSignals() before.
int RunCommand(const CommandContext& context);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_RUN_COMMAND_H_
