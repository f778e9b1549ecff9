#include "common/reduction.h"

#include <algorithm>
#include <cstddef>

#include "common/check.h"
#include "common/element_range.h"
#include "common/vectorize.h"

namespace ringside {

void Add(absl::Span<const float> a, absl::Span<const float> b, absl::Span<float> out) {
  RINGSIDE_CHECK(a.size() == b.size() && a.size() == out.size());
  const float* pa = a.data();
  const float* pb = b.data();
  float* po = out.data();
  const size_t n = out.size();
  RINGSIDE_INDEPENDENT_ITERATIONS
  for (size_t i = 0; i < n; ++i) po[i] = pa[i] + pb[i];
}

void FoldInLawOrder(const std::vector<absl::Span<const float>>& gradients, absl::Span<float> out) {
  const int size = static_cast<int>(gradients.size());
  RINGSIDE_CHECK(size > 0);
  const ElementRange whole{0, static_cast<int64_t>(out.size())};
  for (int chunk = 0; chunk < size; ++chunk) {
    const ElementRange range = Part(whole, size, chunk);
    const auto first = gradients[chunk].subspan(range.begin, range.length);
    const auto sum = out.subspan(range.begin, range.length);
    std::copy(first.begin(), first.end(), sum.begin());
    for (int k = 1; k < size; ++k) {
      Add(sum, gradients[(chunk + k) % size].subspan(range.begin, range.length), sum);
    }
  }
}

}  // namespace ringside
