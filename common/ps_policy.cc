#include "common/ps_policy.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace ringside {

absl::StatusOr<PsMode> ParsePsMode(absl::string_view name) {
  if (name == "sync") return PsMode::kSync;
  if (name == "async") return PsMode::kAsync;
  if (name == "ssp") return PsMode::kSsp;
  if (name == "backup") return PsMode::kBackup;
  return absl::InvalidArgumentError(
      absl::StrCat("--ps_mode=", name, ": must be one of sync, async, ssp, backup"));
}

}  // namespace ringside
