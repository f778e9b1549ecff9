#include "common/config/device.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace ringside {

absl::StatusOr<Device> ParseDevice(absl::string_view text) {
  if (text == "cpu") return Device{Device::Kind::kCpu, 0};
  if (text == "cuda:LOCAL_RANK") return Device{Device::Kind::kCudaLocalRank, 0};
  absl::string_view number = text;
  int index = 0;
  if (absl::ConsumePrefix(&number, "cuda:") &&
      std::all_of(number.begin(), number.end(), absl::ascii_isdigit) &&
      absl::SimpleAtoi(number, &index)) {
    return Device{Device::Kind::kCuda, index};
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--device=", text, ": must be cpu, cuda:N (a GPU's number) or cuda:LOCAL_RANK"));
}

}  // namespace ringside
