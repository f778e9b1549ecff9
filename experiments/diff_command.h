// `ringside diff A B`: whether B is slower than A.
#ifndef RINGSIDE_EXPERIMENTS_DIFF_COMMAND_H_
#define RINGSIDE_EXPERIMENTS_DIFF_COMMAND_H_

#include "experiments/command_context.h"

namespace ringside {

// Compares two results, folders or paths of results.json, and prints a table. Returns the exit
// status: 1 where any cell of B is significantly slower than in A by more than --tolerance, 2 for
// bad input, two results without a common cell included, else 0.
int DiffCommand(const CommandContext& context);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_DIFF_COMMAND_H_
