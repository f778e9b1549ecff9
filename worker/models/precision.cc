#include "worker/models/precision.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace ringside {

absl::StatusOr<Precision> ParsePrecision(absl::string_view name) {
  if (name == "fp32") return Precision::kFloat32;
  if (name == "bf16") return Precision::kBFloat16;
  return absl::InvalidArgumentError(
      absl::StrCat("--precision=", name, ": must be one of fp32, bf16"));
}

}  // namespace ringside
