// `ringside compare`: the same job with several strategies and numbers of workers, and what comes
// of it.
#ifndef RINGSIDE_EXPERIMENTS_COMPARE_COMMAND_H_
#define RINGSIDE_EXPERIMENTS_COMPARE_COMMAND_H_

#include "experiments/command_context.h"

namespace ringside {

// Returns the exit status; 1 also where a gate fails. Call BlockJobSignals() before.
int CompareCommand(const CommandContext& context);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_COMPARE_COMMAND_H_
