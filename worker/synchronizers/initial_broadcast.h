// The broadcast of the initial parameters, as step 0 of the ordinary exchange: rank 0 submits its
// parameters and everybody else negative zeros. x + -0.0 is x in every bit, for every x (+0.0 would
// turn -0.0 into +0.0), so the sum is rank 0's parameters wherever the fold starts.
// Thread-compatible.
#ifndef RINGSIDE_WORKER_SYNCHRONIZERS_INITIAL_BROADCAST_H_
#define RINGSIDE_WORKER_SYNCHRONIZERS_INITIAL_BROADCAST_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/arena.h"
#include "common/bucket_plan.h"
#include "worker/synchronizers/gradient_synchronizer.h"

namespace ringside {

// Owns what is lent, so it goes only after whoever it was lent to; or earlier, once the exchange
// has succeeded.
class InitialBroadcast {
 public:
  // Submits step 0 of every hosted rank. INVALID_ARGUMENT: the length is not the plan's;
  // RESOURCE_EXHAUSTED: no memory for the zeros.
  absl::Status Submit(const BucketPlan& plan, const std::vector<int>& hosted_ranks,
                      absl::Span<const float> parameters,
                      const std::function<void(const GradientBucket&)>& submit);
  // The exchange has succeeded.
  void Release() { negative_zeros_.reset(); }

 private:
  std::unique_ptr<Arena> negative_zeros_;
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_SYNCHRONIZERS_INITIAL_BROADCAST_H_
