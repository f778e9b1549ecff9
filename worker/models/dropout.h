// Dropout whose draws are a function of a seed, of the place in the forward pass and of the element
// alone: neither the process, nor the thread, nor the version of LibTorch has a part in them.
//
// Thread-compatible.
#ifndef RINGSIDE_WORKER_MODELS_DROPOUT_H_
#define RINGSIDE_WORKER_MODELS_DROPOUT_H_

#include <torch/torch.h>

#include <cstdint>

namespace ringside {

// One forward pass. Every Apply draws anew, so the order of the calls is part of the model.
class Dropout {
 public:
  // Drops nothing, as in evaluation.
  Dropout() = default;
  explicit Dropout(uint64_t seed) : training_(true), seed_(seed) {}

  // Zeroes each element with `probability`, less than 1, and scales the rest so that the mean
  // stays. `values` may be returned itself, but is never written to.
  torch::Tensor Apply(const torch::Tensor& values, double probability);

 private:
  const bool training_ = false;
  const uint64_t seed_ = 0;
  uint64_t calls_ = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_MODELS_DROPOUT_H_
