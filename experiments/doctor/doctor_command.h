// `ringside doctor`: is this machine fit to run jobs, and to measure them?
#ifndef RINGSIDE_EXPERIMENTS_DOCTOR_DOCTOR_COMMAND_H_
#define RINGSIDE_EXPERIMENTS_DOCTOR_DOCTOR_COMMAND_H_

#include "experiments/command_context.h"

namespace ringside {

// Prints one line for each check; returns 1 where one fails.
int DoctorCommand(const CommandContext& context);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_DOCTOR_DOCTOR_COMMAND_H_
