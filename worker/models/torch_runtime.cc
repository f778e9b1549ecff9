#include "worker/models/torch_runtime.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <torch/version.h>

#include <exception>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace ringside {
namespace {

template <typename Function>
Function Symbol(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

// LibTorch passes its thread count on to OpenMP, not to an OpenBLAS that has threads of its own.
// Whether there is an OpenBLAS at all is known at run time only: the system's alternatives decide
// what libblas.so.3 is.
std::string ConfigureBlas(int threads) {
  const auto set_threads = Symbol<void (*)(int)>("openblas_set_num_threads");
  const auto config = Symbol<char* (*)()>("openblas_get_config");
  const auto core = Symbol<char* (*)()>("openblas_get_corename");
  if (set_threads == nullptr || config == nullptr) return "reference or unknown BLAS";
  set_threads(threads);
  return absl::StrCat(absl::StripAsciiWhitespace(config()), core == nullptr ? "" : " on ",
                      core == nullptr ? "" : core());
}

}  // namespace

absl::StatusOr<std::map<std::string, std::string>> ConfigureTorch(int threads) {
  try {
    at::set_num_threads(threads);
    // Throws when it was set before; then the number is already 1.
    if (at::get_num_interop_threads() != 1) at::set_num_interop_threads(1);
    at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false);
  } catch (const std::exception& error) {
    return absl::InternalError(absl::StrCat("--threads=", threads, ": ", error.what()));
  }
  return std::map<std::string, std::string>{{"libtorch", TORCH_VERSION},
                                            {"blas", ConfigureBlas(threads)},
                                            {"threads", absl::StrCat(at::get_num_threads())}};
}

bool HasBFloat16Kernels() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512bw") > 0 && __builtin_cpu_supports("avx512vl") > 0 &&
         __builtin_cpu_supports("avx512dq") > 0;
#else
  return false;
#endif
}

}  // namespace ringside
