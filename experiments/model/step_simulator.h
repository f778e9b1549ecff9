// Steps of a job, one after the other, simulated with compute times that vary. Deterministic for a
// seed, on every platform.
#ifndef RINGSIDE_EXPERIMENTS_MODEL_STEP_SIMULATOR_H_
#define RINGSIDE_EXPERIMENTS_MODEL_STEP_SIMULATOR_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/status/statusor.h"
#include "experiments/model/step_job.h"

namespace ringside {

struct SimulationConfig {
  int steps = 1;
  uint64_t seed = 1;
  // By rank: seconds that it takes longer before backward, in each step.
  std::map<int, double> stragglers = {};
};

// Time of each step: that of its slowest rank, from its own start to its own end. A rank begins a
// step when it has ended the one before; the network is then empty. The compute time of each rank
// and step is drawn from a normal distribution of standard deviation compute.spread_s, cut off at
// 0. A ring without a shortage of cores is simulated by recurrence, all else by events:
// RESOURCE_EXHAUSTED as SimulateEvents has it. INVALID_ARGUMENT: no worker, no shard of a server,
// or a straggler that is no rank.
absl::StatusOr<std::vector<double>> SimulateSteps(const StepJob& job,
                                                  const SimulationConfig& config);

// Training under failures: docs/metrics.md, "Cost model".
struct FailureConfig {
  double mtbf_s = 0;        // mean time between failures of the job, as a Poisson process
  double interval_s = 0;    // of work between two checkpoints
  double checkpoint_s = 0;  // that training stands still for one
  double restart_s = 0;     // from a failure until work goes on; may fail itself
  uint64_t seed = 1;
};

// Seconds until `work_s` of steps are done and saved, in one drawn history of failures. REQUIRES:
// all times positive, checkpoint_s and restart_s perhaps 0.
double SimulateTraining(double work_s, const FailureConfig& config);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MODEL_STEP_SIMULATOR_H_
