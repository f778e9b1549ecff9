// `ringside coordinator`: the meeting point of a job whose processes are started by hand or by a
// scheduler.
#ifndef RINGSIDE_EXPERIMENTS_COORDINATOR_COMMAND_H_
#define RINGSIDE_EXPERIMENTS_COORDINATOR_COMMAND_H_

#include "experiments/command_context.h"

namespace ringside {

// Returns the exit status: 0 when all members have left, 1 with the verdict, 128 + signal when
// interrupted. Call BlockJobSignals() before.
int CoordinatorCommand(const CommandContext& context);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_COORDINATOR_COMMAND_H_
