// `ringside export`: a trained model in a format that other frameworks read.
#ifndef RINGSIDE_EXPERIMENTS_EXPORT_COMMAND_H_
#define RINGSIDE_EXPERIMENTS_EXPORT_COMMAND_H_

#include "experiments/command_context.h"

namespace ringside {

// Writes the parameters and buffers of --checkpoint to --out as safetensors. Returns the exit
// status.
int ExportCommand(const CommandContext& context);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_EXPORT_COMMAND_H_
