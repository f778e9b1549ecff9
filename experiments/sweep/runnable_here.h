// Whether this machine can run a job at all, asked before a sweep begins.
#ifndef RINGSIDE_EXPERIMENTS_SWEEP_RUNNABLE_HERE_H_
#define RINGSIDE_EXPERIMENTS_SWEEP_RUNNABLE_HERE_H_

#include "absl/status/status.h"
#include "common/config/job_config.h"

namespace ringside {

// UNAVAILABLE, PERMISSION_DENIED: it cannot, and the message is the reason. What only the job's
// processes can find out is left to them. Main thread only.
absl::Status CanRunHere(const JobConfig& job);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SWEEP_RUNNABLE_HERE_H_
