// `ringside sweep SPEC`: an experiment from a file, from its first job to its report.
#ifndef RINGSIDE_EXPERIMENTS_SWEEP_SWEEP_COMMAND_H_
#define RINGSIDE_EXPERIMENTS_SWEEP_SWEEP_COMMAND_H_

#include "experiments/command_context.h"

namespace ringside {

// Returns the exit status; 1 also where a gate fails. The same command again goes on where the last
// one was interrupted. Call BlockJobSignals() before.
int SweepCommand(const CommandContext& context);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SWEEP_SWEEP_COMMAND_H_
