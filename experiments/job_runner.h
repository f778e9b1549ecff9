// One job from its settings to its results.
#ifndef RINGSIDE_EXPERIMENTS_JOB_RUNNER_H_
#define RINGSIDE_EXPERIMENTS_JOB_RUNNER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "common/config/job_config.h"
#include "common/network/bind_address.h"
#include "experiments/ceilings/ceiling_probe.h"
#include "experiments/command_context.h"
#include "experiments/launcher.h"
#include "results.pb.h"

namespace ringside {

struct FinishedJob {
  JobOutcome outcome;
  absl::optional<RunResult> result;  // set where the outcome is ok
};

// Runs `job`, whose `out` exists, with logs in <out>/logs, and reads what worker 0 left there.
// `title`, or what `live_title` says at that moment, goes before each line of progress. `ceilings`
// is that of the whole command: asked before a job whose results need them. Main thread only
// (launcher.h).
FinishedJob RunJob(const CommandContext& context, const NetworkOptions& network,
                   const JobConfig& job, CeilingProbe* ceilings, const std::string& title,
                   LiveTitle live_title = nullptr);

// Says what went wrong: one line, and but for bad input one for each process that failed and where
// the logs are.
void PrintFailure(const JobOutcome& outcome, const std::string& out);

// NOT_FOUND: there is no <folder>/results.json; INVALID_ARGUMENT: it is not what a job leaves.
absl::StatusOr<RunResult> ReadRunResult(const std::string& folder);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_RUNNER_H_
