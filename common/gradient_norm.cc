#include "common/gradient_norm.h"

#include <cmath>
#include <cstddef>

#include "common/check.h"
#include "common/kernel_table.h"
#include "common/vectorize.h"

namespace ringside {

double SumOfSquares(absl::Span<const float> values) {
  return BestKernels().sum_of_squares(values.data(), values.size());
}

NonFinite FindNonFinite(absl::Span<const float> values) {
  NonFinite found;
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) continue;
    if (found.count++ == 0) found.first = static_cast<int64_t>(i);
  }
  return found;
}

void Scale(float factor, absl::Span<const float> values, absl::Span<float> out) {
  RINGSIDE_CHECK(values.size() == out.size());
  const float* from = values.data();
  float* to = out.data();
  const size_t n = out.size();
  RINGSIDE_INDEPENDENT_ITERATIONS
  for (size_t i = 0; i < n; ++i) to[i] = factor * from[i];
}

}  // namespace ringside
