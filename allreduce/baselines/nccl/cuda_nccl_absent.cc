// In place of cuda_nccl.cc where the libraries were not found.
#include "allreduce/baselines/nccl/cuda_nccl.h"

namespace ringside {

absl::StatusOr<std::unique_ptr<CudaNccl>> OpenCudaNccl() {
  return absl::FailedPreconditionError(
      "this build has no NCCL: the CUDA toolkit or NCCL was not found when it was configured "
      "(CMake option RINGSIDE_NCCL)");
}

}  // namespace ringside
