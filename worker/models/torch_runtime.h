// Process-wide settings of LibTorch and the BLAS under it. No LibTorch type in sight.
#ifndef RINGSIDE_WORKER_MODELS_TORCH_RUNTIME_H_
#define RINGSIDE_WORKER_MODELS_TORCH_RUNTIME_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"

namespace ringside {

// Sets the number of threads of LibTorch, of OpenMP and of OpenBLAS, and asks for deterministic
// algorithms. To be called once, on the thread that will train (OpenMP keeps its number of threads
// per thread), before LibTorch computes anything. Returns what is in force: "libtorch", "blas",
// "threads". INTERNAL: what LibTorch threw.
absl::StatusOr<std::map<std::string, std::string>> ConfigureTorch(int threads);

// Whether LibTorch's kernels for bfloat16 (of oneDNN) run on this CPU: those with AVX-512 BW, VL
// and DQ. On all others it has plain loops: many times slower than its float32, and convolutions
// do not only round operands and results but also add up in bfloat16.
bool HasBFloat16Kernels();

}  // namespace ringside

#endif  // RINGSIDE_WORKER_MODELS_TORCH_RUNTIME_H_
