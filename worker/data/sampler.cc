#include "worker/data/sampler.h"

#include <limits>
#include <numeric>
#include <random>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/element_range.h"

namespace ringside {
namespace {

// Uniform in [0, bound). The standard's distributions differ between libraries, its generators do
// not. What the last, incomplete multiple of `bound` would skew is drawn again.
uint64_t DrawBelow(uint64_t bound, std::mt19937_64* generator) {
  const uint64_t incomplete = (std::numeric_limits<uint64_t>::max() % bound + 1) % bound;
  const uint64_t limit = std::numeric_limits<uint64_t>::max() - incomplete;
  uint64_t draw = (*generator)();
  while (draw > limit) draw = (*generator)();
  return draw % bound;
}

}  // namespace

absl::StatusOr<Sampler> Sampler::Create(int64_t samples, int64_t global_batch, int64_t seed) {
  if (samples < 1 || samples > std::numeric_limits<uint32_t>::max()) {
    return absl::InvalidArgumentError(
        absl::StrCat("an epoch of ", samples, " samples: there must be at least 1"));
  }
  if (global_batch < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("a global batch of ", global_batch, " samples: must be at least 1"));
  }
  return Sampler(samples, global_batch, seed);
}

Sampler::Sampler(int64_t samples, int64_t global_batch, int64_t seed)
    : samples_(samples), global_batch_(global_batch), seed_(seed), permutation_(samples) {}

Sampler::Share Sampler::ShareOf(int64_t step, int world_size, int rank) {
  RINGSIDE_CHECK(step >= 1 && rank >= 0 && rank < world_size);
  Share share;
  share.epoch = (step - 1) / steps_per_epoch();
  if (share.epoch != epoch_) Shuffle(share.epoch);
  const int64_t begin = (step - 1) % steps_per_epoch() * global_batch_;
  const ElementRange batch = Intersect({begin, global_batch_}, {0, samples_});
  const ElementRange own = Part(batch, world_size, rank);
  share.global_samples = batch.length;
  share.indices = absl::MakeConstSpan(permutation_).subspan(own.begin, own.length);
  return share;
}

void Sampler::Shuffle(int64_t epoch) {
  // seed_seq spreads the few bits of seed and epoch over the generator's whole state, as the
  // standard prescribes.
  const auto low = [](int64_t value) { return static_cast<uint32_t>(value); };
  const auto high = [](int64_t value) { return static_cast<uint32_t>(value >> 32); };
  std::seed_seq sequence{low(seed_), high(seed_), low(epoch), high(epoch)};
  std::mt19937_64 generator(sequence);
  std::iota(permutation_.begin(), permutation_.end(), uint32_t{0});
  for (size_t i = permutation_.size(); i > 1; --i) {
    std::swap(permutation_[i - 1], permutation_[DrawBelow(i, &generator)]);
  }
  epoch_ = epoch;
}

}  // namespace ringside
