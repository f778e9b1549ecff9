// The optimizer's update from a step's whole gradient, and all that only the whole tells: whether
// it is finite, its norm (clipping), the norms of its parts (LARS).
//
// Everything is a function of the sums, in a fixed order and in double (common/gradient_norm.h), so
// ranks and strategies that have the same sums decide and update alike. Thread-compatible.
#ifndef RINGSIDE_WORKER_SYNCHRONIZERS_WHOLE_UPDATE_H_
#define RINGSIDE_WORKER_SYNCHRONIZERS_WHOLE_UPDATE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "common/bucket_plan.h"
#include "common/optimizer.h"

namespace ringside {

class WholeUpdate {
 public:
  struct Config {
    // The gradient is scaled by clip_norm / norm where its L2 norm is above; 0: never.
    double clip_norm = 0;
    // Whether a gradient that is not finite leaves parameters and optimizer as they were. Without
    // it, and where no norm is needed, the sums are checked block by block as they are applied,
    // while they are in the cache: that costs no pass of its own over memory.
    bool all_or_nothing = false;
  };

  // Both are borrowed and outlive the object.
  WholeUpdate(const Config& config, const BucketPlan* plan, Optimizer* optimizer);

  // `update` counts those that were applied, from 1. False: `sums` are not finite, and were not
  // applied, or, without all_or_nothing, in part.
  bool Apply(int64_t update, double learning_rate, absl::Span<const float> sums,
             absl::Span<float> parameters);

 private:
  bool CheckAndApplyByBlocks(int64_t update, double learning_rate, absl::Span<const float> sums,
                             absl::Span<float> parameters);
  void ApplyScaled(int64_t update, double learning_rate, float scale, absl::Span<const float> sums,
                   absl::Span<float> parameters);

  const Config config_;
  const BucketPlan* const plan_;
  Optimizer* const optimizer_;

  std::vector<double> norms_;  // by parameter; first the squares
  std::vector<float> scaled_;  // one block
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_SYNCHRONIZERS_WHOLE_UPDATE_H_
