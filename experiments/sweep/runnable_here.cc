#include "experiments/sweep/runnable_here.h"

#include <unistd.h>

#include "absl/strings/str_cat.h"

namespace ringside {
namespace {

// There where NVIDIA's driver is loaded.
constexpr char kGpuControl[] = "/dev/nvidiactl";

}  // namespace

absl::Status CanRunHere(const JobConfig& job) {
  if (job.strategy == "nccl" && access(kGpuControl, F_OK) != 0) {
    return absl::UnavailableError(
        absl::StrCat("--strategy=nccl needs an NVIDIA GPU, and there is no ", kGpuControl));
  }
  return absl::OkStatus();
}

}  // namespace ringside
