// What failures of processes cost a job that then goes back to its last checkpoint. Pure and
// deterministic. Seconds. docs/metrics.md, "Failures".
#ifndef RINGSIDE_EXPERIMENTS_MODEL_FAILURE_ESTIMATE_H_
#define RINGSIDE_EXPERIMENTS_MODEL_FAILURE_ESTIMATE_H_

#include <cstdint>

#include "experiments/model/step_job.h"

namespace ringside {

struct FailureAssumptions {
  // Mean time between failures of one process, worker or shard. Processes fail at random and
  // independently of each other, so P of them fail P times as often (a Poisson process).
  double process_mtbf_s = 0;
  double restart_s = 0;          // from a failure until the job trains again; may fail itself
  double checkpoint_s = 0;       // that training stands still for a checkpoint
  int64_t checkpoint_steps = 0;  // from one to the next; 0: as many as cost least
};

struct FailureEstimate {
  int processes = 0;             // any of which stops the job
  double mtbf_s = 0;             // of the job
  int64_t checkpoint_steps = 0;  // as told, or the best
  // Time of the steps that count over all time: from 1, without failures and checkpoints, to 0,
  // where the job gets nowhere.
  double goodput = 0;
  double step_s = 0;             // of all time, per step that counts; infinite where goodput is 0
  double simulated_goodput = 0;  // 0: not simulated
};

// Work between two checkpoints for which ExpectedTrainingSeconds (cost_formulas.h) is least. For
// checkpoints that cost little, about sqrt(2 checkpoint_s mtbf_s) (Young 1974).
double BestCheckpointInterval(double mtbf_s, double checkpoint_s);

// By formula, for steps of `step_s` each. REQUIRES: process_mtbf_s, step_s > 0; all others >= 0.
FailureEstimate EstimateFailures(const FailureAssumptions& assumptions, const StepJob& job,
                                 double step_s);

// The goodput of `estimate` in a drawn history of some two thousand failures; 0 where it is so
// small that the simulation would take too long.
double SimulateGoodput(const FailureAssumptions& assumptions, const FailureEstimate& estimate,
                       double step_s);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MODEL_FAILURE_ESTIMATE_H_
