// `ringside predict`: what more workers, another network or another model would take.
#ifndef RINGSIDE_EXPERIMENTS_PREDICT_COMMAND_H_
#define RINGSIDE_EXPERIMENTS_PREDICT_COMMAND_H_

#include "experiments/command_context.h"

namespace ringside {

// Reads results.json in the folder that is named, fits the cost model, prints step times for
// --workers, with --mtbf under failures too; with --out also draws them: figures/predicted_*.svg
// and .csv. Returns the exit status.
int PredictCommand(const CommandContext& context);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_PREDICT_COMMAND_H_
