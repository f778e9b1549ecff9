// Whether a run has recorded the steps that it should have. Pure functions.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_RUN_STEPS_H_
#define RINGSIDE_EXPERIMENTS_REPORT_RUN_STEPS_H_

#include <string>

#include "results.pb.h"

namespace ringside {

// Every worker has steps 1 to T, each once; from the one after the checkpoint where the run went on
// from one. In backup mode a late worker goes on where the others
// are: then its steps ascend, and every step has been taken by all but the backup workers at least.
// Returns what is wrong, empty where nothing is.
std::string CheckSteps(const RunResult& run);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_RUN_STEPS_H_
