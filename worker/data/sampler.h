// Which samples each rank sees in each step: a pure function of (samples, global batch, seed).
//
// Every epoch has one permutation of all samples, made from seed and epoch. Step k of an epoch
// takes the next `global_batch` of it; the last step of an epoch takes what is left. A rank's share
// is its Part of that global batch, which is empty when the batch has fewer samples than there are
// ranks. So the global batches, and each sample's place in them, do not depend on the number of
// ranks, and nothing is dropped or repeated.
//
// Thread-compatible: keeps the permutation of the epoch that it was last asked for.
#ifndef RINGSIDE_WORKER_DATA_SAMPLER_H_
#define RINGSIDE_WORKER_DATA_SAMPLER_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace ringside {

class Sampler {
 public:
  struct Share {
    int64_t epoch = 0;                   // counts from 0
    int64_t global_samples = 0;          // of the whole batch
    absl::Span<const uint32_t> indices;  // of this rank; valid until another epoch is asked for
  };

  // INVALID_ARGUMENT: no samples, more than 2^32 of them, or a global batch below 1.
  static absl::StatusOr<Sampler> Create(int64_t samples, int64_t global_batch, int64_t seed);

  int64_t steps_per_epoch() const { return (samples_ + global_batch_ - 1) / global_batch_; }

  // Of `rank` in step `step`, which counts from 1 over all epochs.
  Share ShareOf(int64_t step, int world_size, int rank);

 private:
  Sampler(int64_t samples, int64_t global_batch, int64_t seed);

  void Shuffle(int64_t epoch);

  int64_t samples_;
  int64_t global_batch_;
  int64_t seed_;
  int64_t epoch_ = -1;  // of permutation_
  std::vector<uint32_t> permutation_;
};

// What the mean loss over `samples` is scaled by, so that the sum over all parts of a batch is the
// mean over its `of_samples`, however unevenly it was cut. The one place where averaging is
// decided.
inline double LossWeight(int64_t samples, int64_t of_samples) {
  return static_cast<double>(samples) / static_cast<double>(of_samples);
}

}  // namespace ringside

#endif  // RINGSIDE_WORKER_DATA_SAMPLER_H_
