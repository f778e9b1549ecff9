// What is asked of a gradient as a whole: its norm, and whether it is finite. Pure functions.
#ifndef RINGSIDE_COMMON_GRADIENT_NORM_H_
#define RINGSIDE_COMMON_GRADIENT_NORM_H_

#include <cstdint>

#include "absl/types/span.h"

namespace ringside {

// The sum of the squares, in double: element i is added to partial sum i mod 16, in ascending
// order, and of the partial sums the upper half is added to the lower until one is left. So the
// bits depend on the values alone, not on the processor. Squares of floats are exact in double, and
// no finite floats that memory holds make it overflow: the result is finite exactly where all
// values are, and one pass answers both questions.
double SumOfSquares(absl::Span<const float> values);

// What is not finite among `values`; for errors, so it need not be fast.
struct NonFinite {
  int64_t first = -1;  // index; -1: all values are finite
  int64_t count = 0;
};
NonFinite FindNonFinite(absl::Span<const float> values);

// out[i] = factor * values[i], in float. `out` may be `values`.
void Scale(float factor, absl::Span<const float> values, absl::Span<float> out);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_GRADIENT_NORM_H_
