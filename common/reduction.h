// The additions of which every fold consists.
//
// Law of summation: chunk c of a bucket is the left fold g_c + g_(c+1) + ... + g_(c+N-1), ranks
// modulo N, starting from g_c itself and never from zero. Every strategy adds with these functions,
// so that the bits agree.
#ifndef RINGSIDE_COMMON_REDUCTION_H_
#define RINGSIDE_COMMON_REDUCTION_H_

#include <vector>

#include "absl/types/span.h"

namespace ringside {

// out[i] = a[i] + b[i]. Equal lengths; `out` may be `a` or `b`, any other overlap is not allowed.
void Add(absl::Span<const float> a, absl::Span<const float> b, absl::Span<float> out);

// Folds one bucket in law order: `gradients[r]` is rank r's. The reference that all strategies are
// compared with, and what `local` uses. All lengths are equal; `out` overlaps none of the inputs.
void FoldInLawOrder(const std::vector<absl::Span<const float>>& gradients, absl::Span<float> out);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_REDUCTION_H_
