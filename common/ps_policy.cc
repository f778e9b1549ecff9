#include "common/ps_policy.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace ringside {

std::string StrategyName(const PsPolicy& policy) {
  switch (policy.mode) {
    case PsMode::kSync:
      return policy.update_on_server ? "ps server-update" : "ps";
    case PsMode::kAsync:
      return "ps async";
    case PsMode::kSsp:
      return absl::StrCat("ps ssp ", policy.staleness);
    case PsMode::kBackup:
      return absl::StrCat("ps backup ", policy.backup_workers);
  }
  return "ps";
}

absl::StatusOr<PsMode> ParsePsMode(absl::string_view name) {
  if (name == "sync") return PsMode::kSync;
  if (name == "async") return PsMode::kAsync;
  if (name == "ssp") return PsMode::kSsp;
  if (name == "backup") return PsMode::kBackup;
  return absl::InvalidArgumentError(
      absl::StrCat("--ps_mode=", name, ": must be one of sync, async, ssp, backup"));
}

}  // namespace ringside
