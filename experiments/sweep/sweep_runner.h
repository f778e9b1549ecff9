// Runs what is left of a sweep, job after job, and remembers in its folder what has ended.
#ifndef RINGSIDE_EXPERIMENTS_SWEEP_SWEEP_RUNNER_H_
#define RINGSIDE_EXPERIMENTS_SWEEP_SWEEP_RUNNER_H_

#include <map>
#include <string>
#include <vector>

#include "experiments/command_context.h"
#include "experiments/sweep/sweep_manifest.h"
#include "experiments/sweep/sweep_plan.h"
#include "results.pb.h"
#include "sweep.pb.h"

namespace ringside {

using KeptRuns = std::map<std::string, KeptRun>;  // by SweepJob::folder

// The runs of the plan that have ended well according to `manifest`. What is damaged is said on
// standard error and left out, so that it runs again.
KeptRuns ReadKeptRuns(const SweepPlan& plan, const SweepManifest& manifest,
                      const std::string& folder);

struct SweepOutcome {
  int status = 0;               // what `ringside` should exit with
  bool was_refused = false;     // bad input, said by the first job; nothing has run
  std::vector<RunResult> runs;  // in the order of the plan; all of them where the status is 0
};

// Runs every job of the plan that is not among `kept`, with a line of progress for the whole, and
// saves `manifest` after each. Stops at the first that fails or at an interrupt, says why, and that
// the same command goes on. Main thread only, after BlockJobSignals() (launcher.h).
SweepOutcome RunSweep(const CommandContext& context, const SweepPlan& plan, KeptRuns kept,
                      const std::string& folder, SweepManifest manifest);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SWEEP_SWEEP_RUNNER_H_
