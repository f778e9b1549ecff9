#include "worker/models/dropout.h"

#include "worker/models/dropout_seed.h"

namespace ringside {

torch::Tensor Dropout::Apply(const torch::Tensor& values, double probability) {
  if (!training_ || probability == 0) return values;
  const uint64_t key = RandomBits(seed_, calls_++);
  const auto threshold = static_cast<uint32_t>(probability * 0x1.0p32);
  const auto kept = static_cast<float>(1 / (1 - probability));
  // Contiguous whatever the layout of `values`: the draw belongs to the element's position.
  const torch::Tensor mask = torch::empty(values.sizes(), torch::kFloat32);
  float* const factors = mask.data_ptr<float>();
  const int64_t elements = mask.numel();
  for (int64_t pair = 0; pair < elements / 2; ++pair) {
    const uint64_t bits = RandomBits(key, static_cast<uint64_t>(pair));
    factors[2 * pair] = static_cast<uint32_t>(bits) < threshold ? 0.0f : kept;
    factors[2 * pair + 1] = static_cast<uint32_t>(bits >> 32) < threshold ? 0.0f : kept;
  }
  if (elements % 2 == 1) {
    const uint64_t bits = RandomBits(key, static_cast<uint64_t>(elements / 2));
    factors[elements - 1] = static_cast<uint32_t>(bits) < threshold ? 0.0f : kept;
  }
  return values * mask;
}

}  // namespace ringside
