// `ringside report`: the pages again, from results that are there already.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_COMMAND_H_
#define RINGSIDE_EXPERIMENTS_REPORT_COMMAND_H_

#include "experiments/command_context.h"

namespace ringside {

// One folder: rebuilds its pages there, or in --out. Several: merges their runs into one comparison
// in --out, each run once; other builds and machines are refused without --allow_unequal. A folder
// may hold a comparison or what worker 0 of a job started by hand has left. Returns the exit
// status.
int ReportCommand(const CommandContext& context);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_COMMAND_H_
