// The numbers that are summed: small integers that differ between ranks, so that float sums are
// exact in any order, in bf16 as well, for up to 32 ranks. Pure.
#ifndef RINGSIDE_ALLREDUCE_BENCH_TEST_VECTOR_H_
#define RINGSIDE_ALLREDUCE_BENCH_TEST_VECTOR_H_

#include <cstdint>

#include "absl/types/span.h"

namespace ringside {

// What rank `rank` brings.
void FillTestVector(int rank, absl::Span<float> values);

// How many elements differ from what rank `rank` brings.
int64_t CountOtherThanTestVector(int rank, absl::Span<const float> values);

// How many elements differ from the sum over all ranks.
int64_t CountWrongSums(int world_size, absl::Span<const float> sums);

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_BENCH_TEST_VECTOR_H_
