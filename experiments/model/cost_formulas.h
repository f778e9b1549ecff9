// The cost model in closed form: seconds of a step by formula (docs/metrics.md, "Cost model", which
// names the sources). Pure.
//
// The formulas take every rank to be alike and every chunk, segment and unit of a bucket to have
// its mean size. Where that holds, and no core is short, they equal the simulators
// (ring_simulation.h, event_simulation.h) in the cases that their comments name.
#ifndef RINGSIDE_EXPERIMENTS_MODEL_COST_FORMULAS_H_
#define RINGSIDE_EXPERIMENTS_MODEL_COST_FORMULAS_H_

#include <cstdint>

#include "experiments/model/step_job.h"

namespace ringside {

// Expected largest of `count` draws from a standard normal distribution (Blom 1958).
double ExpectedLargest(int count);

// One bucket through a ring, from the moment at which all ranks have submitted it. Exact on uniform
// links where sending and folding cost nothing beyond alpha.
double RingBucketSeconds(const StepJob& job, int64_t elements);

// How many units a bucket is cut into, over all shards: each chunk and each stripe begins one.
int64_t UnitsOfBucket(const StepJob& job, int64_t elements);

// One bucket through a server: `push` and `pull` are the time that the busiest link is busy, `work`
// that of the busiest thread, or of all cores of a machine where they are short.
struct ServerBucketSeconds {
  double push = 0;
  double pull = 0;
  double both = 0;  // of a link that carries both, where they overlap
  double work = 0;
};
ServerBucketSeconds ServerBucket(const StepJob& job, int64_t elements);

// A whole step.
struct StepEstimate {
  double step_s = 0;
  double backward_end_s = 0;       // from the start of the step
  double communication_end_s = 0;  // until the last sum is everywhere
  double exposed_s = 0;            // communication after backward
};
StepEstimate EstimateStep(const StepJob& job);

// Samples/s of `job` over `workers` times those of a step without communication.
double Efficiency(const StepJob& job, double step_s);

// Expected seconds of training for `work_s` of steps when failures come at random, `mtbf_s` apart
// on the average: what is lost since the last checkpoint is done again after `restart_s`, and a
// checkpoint takes `checkpoint_s` after every `interval_s` of work (Daly 2006, equation 20).
double ExpectedTrainingSeconds(double work_s, double mtbf_s, double interval_s, double checkpoint_s,
                               double restart_s);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MODEL_COST_FORMULAS_H_
