#include "experiments/sweep/runnable_here.h"

#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "experiments/network/emulated_network.h"

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
  if (job.network_hosts() == 0) return absl::OkStatus();
  static const auto* emulation = new absl::Status(CanEmulate());  // a sweep asks for every job
  return *emulation;
}

}  // namespace ringside
