// The value of --device: where the all-reduce of strategy nccl runs. Pure.
#ifndef RINGSIDE_COMMON_CONFIG_DEVICE_H_
#define RINGSIDE_COMMON_CONFIG_DEVICE_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ringside {

struct Device {
  enum class Kind {
    kCpu,
    kCuda,           // the GPU of number `index`
    kCudaLocalRank,  // the GPU whose number is the process's rank among those of its host
  };
  Kind kind = Kind::kCpu;
  int index = 0;
};

// "cpu", "cuda:3", "cuda:LOCAL_RANK". INVALID_ARGUMENT: anything else; names the flag, the value
// and what is allowed.
absl::StatusOr<Device> ParseDevice(absl::string_view text);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CONFIG_DEVICE_H_
