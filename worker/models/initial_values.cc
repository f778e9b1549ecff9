#include "worker/models/initial_values.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "absl/strings/match.h"

namespace ringside {
namespace {

// In [-bound, bound). 53 bits make a double in [0, 1); the standard's distributions differ between
// libraries.
float Uniform(uint64_t bits, double bound) {
  const double unit = static_cast<double>(bits >> 11) * 0x1.0p-53;
  return static_cast<float>(bound * (2 * unit - 1));
}

// Of four times 16 bits, the sum has the mean 2 * 65535 and the variance 4 * (65536^2 - 1) / 12.
float Normal(uint64_t bits, double deviation) {
  const uint64_t sum =
      (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
  const double unit = std::sqrt((65536.0 * 65536.0 - 1) / 3);
  return static_cast<float>(deviation * (static_cast<double>(sum) - 2 * 65535.0) / unit);
}

}  // namespace

InitialValues HeInitialValues(const ParameterSpec& spec) {
  if (spec.shape.size() < 2) {
    return {InitialValues::Kind::kConstant, absl::EndsWith(spec.name, "weight") ? 1.0 : 0.0};
  }
  const double fan_in = static_cast<double>(spec.elements() / spec.shape[0]);
  return {InitialValues::Kind::kUniform, std::sqrt(6.0 / fan_in)};
}

void FillInitialValues(const InitialValues& rule, int index, int64_t seed,
                       absl::Span<float> values) {
  if (rule.kind == InitialValues::Kind::kConstant) {
    std::fill(values.begin(), values.end(), static_cast<float>(rule.scale));
    return;
  }
  std::seed_seq sequence{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32),
                         static_cast<uint32_t>(index)};
  std::mt19937_64 generator(sequence);
  const auto value = rule.kind == InitialValues::Kind::kUniform ? Uniform : Normal;
  for (float& next : values) next = value(generator(), rule.scale);
}

}  // namespace ringside
