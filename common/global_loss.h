// The loss of a step over all ranks, from what each has recorded of its part. Pure.
#ifndef RINGSIDE_COMMON_GLOBAL_LOSS_H_
#define RINGSIDE_COMMON_GLOBAL_LOSS_H_

#include <cstdint>

namespace ringside {

// `parts` is the sum over ranks of their parts of the mean over the global batch of
// `global_samples`, and `samples` those behind it. Where ranks left the step out (backup workers),
// the sum is short by their parts: this is the mean over the samples of those that took it. `parts`
// where there are no samples.
inline double GlobalLossOf(double parts, int64_t samples, int64_t global_samples) {
  return samples == 0 || samples == global_samples
             ? parts
             : parts * (static_cast<double>(global_samples) / static_cast<double>(samples));
}

}  // namespace ringside

#endif  // RINGSIDE_COMMON_GLOBAL_LOSS_H_
