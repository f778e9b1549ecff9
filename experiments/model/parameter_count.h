// Numbers of parameters as people write them. Pure.
#ifndef RINGSIDE_EXPERIMENTS_MODEL_PARAMETER_COUNT_H_
#define RINGSIDE_EXPERIMENTS_MODEL_PARAMETER_COUNT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ringside {

// The value of --parameters: "25.6M", "7B", "1000000". INVALID_ARGUMENT: no such number, or not
// from 1 to 1e11; names the flag and what would be right.
absl::StatusOr<int64_t> ParseParameterCount(absl::string_view text);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MODEL_PARAMETER_COUNT_H_
