#include "worker/models/initial_values.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "common/check.h"

namespace ringside {

void FillInitialValues(const ParameterSpec& spec, int index, int64_t seed,
                       absl::Span<float> values) {
  RINGSIDE_CHECK(static_cast<int64_t>(values.size()) == spec.elements());
  if (spec.shape.size() < 2) {
    std::fill(values.begin(), values.end(), 0.0f);
    return;
  }
  const double fan_in = static_cast<double>(spec.elements() / spec.shape[0]);
  const double bound = std::sqrt(6.0 / fan_in);
  std::seed_seq sequence{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32),
                         static_cast<uint32_t>(index)};
  std::mt19937_64 generator(sequence);
  for (float& value : values) {
    // 53 bits make a double in [0, 1); the standard's distributions differ between libraries.
    const double unit = static_cast<double>(generator() >> 11) * 0x1.0p-53;
    value = static_cast<float>(bound * (2 * unit - 1));
  }
}

}  // namespace ringside
