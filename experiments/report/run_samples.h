// What the report takes from one run: a time, a number of samples and a loss for each step. Pure
// functions.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_RUN_SAMPLES_H_
#define RINGSIDE_EXPERIMENTS_REPORT_RUN_SAMPLES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "results.pb.h"

namespace ringside {

struct StepSample {
  int64_t step = 0;
  // Of the slowest rank: a synchronous step is over when its last rank is done. In modes in which
  // workers are not in step: the time in which all of them together take global_samples at their
  // speeds in their steps of this number.
  double step_s = 0;
  // In backup mode those of the workers that count.
  int64_t global_samples = 0;
  // Sum over ranks, which is the mean loss of the global batch; of the ranks that took the step,
  // where some left it out.
  double loss = 0;
};

// Every step that any rank has recorded, in ascending order.
std::vector<StepSample> StepSamples(const RunResult& run);

// The steps that statistics are made of: those after the warm-up.
std::vector<StepSample> CountedSteps(const RunResult& run);

// Mean over all counted steps and ranks of `runs`. other_s is what the named parts leave of step_s,
// so that the parts add up whatever was recorded. Losses and counts of samples are not averaged.
// Empty record where there are no counted steps.
StepRecord MeanStep(const std::vector<const RunResult*>& runs);

// "ring, 4 workers, trial 2"; "ps, 4 workers, 2 shards, trial 0". Names a run in gates and
// warnings.
std::string RunName(const RunResult& run);

// Workers of `local` are all played by one process.
int WorkerProcesses(const RunResult& run);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_RUN_SAMPLES_H_
