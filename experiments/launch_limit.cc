#include "experiments/launch_limit.h"

#include <cstdint>

#include "absl/strings/str_cat.h"

namespace ringside {

absl::Status RequireLaunchable(const JobConfig& job) {
  if (int64_t{job.worker_processes()} + job.shards() <= kMaxLaunchedProcesses)
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--workers=", job.workers,
                   job.shards() > 0 ? absl::StrCat(" and --ps_shards=", job.ps_shards) : "",
                   ": a job that is launched on one machine may have at most ",
                   kMaxLaunchedProcesses, " processes"));
}

}  // namespace ringside
