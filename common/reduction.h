// The additions of which every fold consists.
//
// Law of summation: chunk c of a bucket is the left fold g_c + g_(c+1) + ... + g_(c+N-1), ranks
// modulo N, starting from g_c itself and never from zero. Every strategy adds with these functions,
// so that the bits agree. Where both summands are NaN, the sum is the left one, made quiet: so the
// bits agree even then, whatever instruction set the kernels use (common/kernel_table.h).
//
// Pure functions, safe from any thread; buffers need the alignment of float only. Lengths that do
// not agree are our own bugs and end the process.
#ifndef RINGSIDE_COMMON_REDUCTION_H_
#define RINGSIDE_COMMON_REDUCTION_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/element_range.h"
#include "common/frame_codec.h"

namespace ringside {

// Bitwise. With vector loads and stores, because memcpy's string instructions are several times
// slower on some processors where both buffers lie alike within their pages, as arenas do.
void Copy(absl::Span<const float> from, absl::Span<float> to);
void CopyBytes(absl::Span<const uint8_t> from, absl::Span<uint8_t> to);

// Copy and Add for a part of a vector of `whole_elements`, which is handled part by part: where the
// whole is larger than the caches, stores go past them.
void CopyPart(absl::Span<const float> from, absl::Span<float> to, int64_t whole_elements);
void AddPart(absl::Span<const float> a, absl::Span<const float> b, absl::Span<float> out,
             int64_t whole_elements);

// out[i] = a[i] + b[i]. Equal lengths; `out` may be `a` or `b`, any other overlap is not allowed.
void Add(absl::Span<const float> a, absl::Span<const float> b, absl::Span<float> out);

// out[i] = ((terms[0][i] + terms[1][i]) + terms[2][i]) + ... At least one term, each as long as
// `out`, which may be one of them; any other overlap is not allowed. One pass over memory, whatever
// the number of terms.
void Fold(absl::Span<const float* const> terms, absl::Span<float> out);

// Folds one bucket in law order: `gradients[r]` is rank r's. The reference that all strategies are
// compared with, and what `local` uses. All lengths are equal; `out` overlaps none of the inputs.
void FoldInLawOrder(const std::vector<absl::Span<const float>>& gradients, absl::Span<float> out);

// Folds the elements `range` of a bucket of `bucket_elements` in law order; the range may cross
// borders of chunks. gradients[r] is all of rank r's bucket, `out` has range.length elements and
// may be that range of one of the gradients.
void FoldRangeInLawOrder(absl::Span<const float* const> gradients, int64_t bucket_elements,
                         ElementRange range, absl::Span<float> out);

// The reference for 16-bit wire dtypes, where a ring rounds: the partial sum is rounded to `dtype`
// at every hop (what rank c+k receives is the rounded one), added in float32, and the finished sum
// is rounded too, by the chunk's owner, so that all ranks agree. kFloat32 is the plain fold. One
// gradient alone is not rounded: nothing travels. `out` overlaps none of the inputs.
void FoldInLawOrder(WireDtype dtype, const std::vector<absl::Span<const float>>& gradients,
                    absl::Span<float> out);

// "avx512", "avx2" or "baseline": the instruction set whose kernels this process uses.
absl::string_view CpuKernels();

}  // namespace ringside

#endif  // RINGSIDE_COMMON_REDUCTION_H_
