// The loss over all ranks, made from their step records after the run: nothing is communicated for
// it while the run lasts. Pure.
#ifndef RINGSIDE_WORKER_GLOBAL_LOSS_H_
#define RINGSIDE_WORKER_GLOBAL_LOSS_H_

#include <cstdint>
#include <vector>

#include "results.pb.h"

namespace ringside {

struct GlobalLoss {
  int64_t step = 0;
  double loss = 0;  // mean over the samples of all ranks that took the step
};

// One for each step that a rank has recorded with samples, in ascending order. The ranks' parts,
// added in rank order in double precision; where ranks left a step out (backup workers), rescaled
// to the samples of those that took it.
std::vector<GlobalLoss> GlobalLosses(const RunResult& run);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_GLOBAL_LOSS_H_
