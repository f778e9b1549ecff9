#include "common/kernel_table.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace ringside {

extern const KernelTable kBaselineKernels;

#if defined(__x86_64__)

extern const KernelTable kAvx2Kernels;
extern const KernelTable kAvx512Kernels;

namespace {

// Not every compiler knows "f16c" as an argument of __builtin_cpu_supports, which asks, other than
// this, whether the kernel saves the registers; so ask for AVX2 as well.
bool HasF16c() {
  unsigned int eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}

}  // namespace

const KernelTable* FindKernels(InstructionSet set) {
  const bool avx2 = __builtin_cpu_supports("avx2") && HasF16c();
  switch (set) {
    case InstructionSet::kBaseline:
      return &kBaselineKernels;
    case InstructionSet::kAvx2:
      return avx2 ? &kAvx2Kernels : nullptr;
    case InstructionSet::kAvx512:
      return avx2 && __builtin_cpu_supports("avx512f") ? &kAvx512Kernels : nullptr;
  }
  return nullptr;
}

#else

const KernelTable* FindKernels(InstructionSet set) {
  return set == InstructionSet::kBaseline ? &kBaselineKernels : nullptr;
}

#endif

const KernelTable& BestKernels() {
  static const KernelTable* const best = [] {
    const KernelTable* table = FindKernels(InstructionSet::kAvx512);
    if (table == nullptr) table = FindKernels(InstructionSet::kAvx2);
    return table != nullptr ? table : FindKernels(InstructionSet::kBaseline);
  }();
  return *best;
}

}  // namespace ringside
