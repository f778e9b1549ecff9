// Where dropout's draws come from: a value of (seed, rank, step, micro-batch), so that a process
// that plays all ranks in turn, one thread a rank and one process a rank drop the same elements.
#ifndef RINGSIDE_WORKER_MODELS_DROPOUT_SEED_H_
#define RINGSIDE_WORKER_MODELS_DROPOUT_SEED_H_

#include <cstdint>

namespace ringside {

// The n-th number of a SplitMix64 sequence that starts at `key` (Steele, Lea and Flood 2014, "Fast
// splittable pseudorandom number generators"): any of them without those before.
inline uint64_t RandomBits(uint64_t key, uint64_t n) {
  uint64_t bits = key + (n + 1) * 0x9e3779b97f4a7c15u;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return bits ^ (bits >> 31);
}

// What Batch::dropout_seed is to be. `step` counts from the start of training, `micro_batch` within
// a step.
inline uint64_t DropoutSeed(int64_t seed, int rank, int64_t step, int64_t micro_batch) {
  uint64_t key = RandomBits(static_cast<uint64_t>(seed), 0);
  key = RandomBits(key, static_cast<uint64_t>(rank));
  key = RandomBits(key, static_cast<uint64_t>(step));
  return RandomBits(key, static_cast<uint64_t>(micro_batch));
}

}  // namespace ringside

#endif  // RINGSIDE_WORKER_MODELS_DROPOUT_SEED_H_
