// How a model that computes nothing spends the time that computing would take.
#ifndef RINGSIDE_WORKER_MODELS_COMPUTE_PACE_H_
#define RINGSIDE_WORKER_MODELS_COMPUTE_PACE_H_

#include <functional>

#include "absl/time/time.h"

namespace ringside {

struct ComputePace {
  std::function<absl::Duration()> now;              // monotonic; any origin
  std::function<void(absl::Duration until)> await;  // returns at once where it is over
};

// The core is free meanwhile, as if a device computed: ranks that share a core do not slow each
// other. Wakes up to some 0.1 ms late.
ComputePace SleepingPace();
// The core is busy, as if it computed itself: ranks that share one make each other late.
ComputePace SpinningPace();

}  // namespace ringside

#endif  // RINGSIDE_WORKER_MODELS_COMPUTE_PACE_H_
