// The vector kernels of one instruction set, as pointers. common/reduction.h and
// common/half_precision.h call them for all others; tests and benchmarks compare the tables.
//
// The bodies are written once, in common/kernel_bodies.inc, and compiled for each instruction set.
// All tables give the same bits. Pointers need no alignment beyond that of their type; pure
// functions, safe from any thread.
#ifndef RINGSIDE_COMMON_KERNEL_TABLE_H_
#define RINGSIDE_COMMON_KERNEL_TABLE_H_

#include <cstddef>
#include <cstdint>

namespace ringside {

// The most terms that a kernel folds in registers.
constexpr size_t kMaxFoldTerms = 8;

struct KernelTable {
  const char* name;

  // out[i] = (terms[0][i] + terms[1][i]) + ...; 1 to kMaxFoldTerms terms, `out` may be one of them.
  void (*fold)(const float* const* terms, size_t count, float* out, size_t elements);
  // The same with stores that go past the caches: faster where terms and sum are larger than these,
  // slower elsewhere, and in place.
  void (*fold_past_caches)(const float* const* terms, size_t count, float* out, size_t elements);

  // Two bytes an element on the wire, little-endian; rounding is told in common/half_precision.h.
  void (*encode_bf16)(const float* values, uint8_t* wire, size_t elements);
  void (*encode_fp16)(const float* values, uint8_t* wire, size_t elements);
  void (*decode_bf16)(const uint8_t* wire, float* values, size_t elements);
  void (*decode_fp16)(const uint8_t* wire, float* values, size_t elements);

  // out[i] = decoded wire[i] + own[i]; `out` may be `own`.
  void (*add_bf16)(const uint8_t* wire, const float* own, float* out, size_t elements);
  void (*add_fp16)(const uint8_t* wire, const float* own, float* out, size_t elements);

  // See SumOfSquares of common/gradient_norm.h. A NaN may have other bits in another table.
  double (*sum_of_squares)(const float* values, size_t elements);
};

enum class InstructionSet { kBaseline, kAvx2, kAvx512 };

// Null where this processor, or this build, has no such instructions. The baseline is always there.
const KernelTable* FindKernels(InstructionSet set);

// The widest that this processor has; chosen at the first call.
const KernelTable& BestKernels();

}  // namespace ringside

#endif  // RINGSIDE_COMMON_KERNEL_TABLE_H_
