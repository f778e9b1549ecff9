// How many processes one machine is asked to run. Pure.
#ifndef RINGSIDE_EXPERIMENTS_LAUNCH_LIMIT_H_
#define RINGSIDE_EXPERIMENTS_LAUNCH_LIMIT_H_

#include "absl/status/status.h"
#include "common/config/job_config.h"

namespace ringside {

// A job on several machines may have more: its processes are started by hand or by a scheduler.
constexpr int kMaxLaunchedProcesses = 256;

// INVALID_ARGUMENT: workers and shards together are more than that; hundreds of processes that all
// start at once take a machine down before any of them can say what is wrong with the job.
absl::Status RequireLaunchable(const JobConfig& job);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_LAUNCH_LIMIT_H_
