#include "common/ps_policy.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace ringside {
namespace {

absl::string_view ModeName(PsMode mode) {
  switch (mode) {
    case PsMode::kSync:
      return "sync";
    case PsMode::kAsync:
      return "async";
    case PsMode::kSsp:
      return "ssp";
    case PsMode::kBackup:
      return "backup";
  }
  return "sync";
}

}  // namespace

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

absl::Status RequireWholeGradient(absl::string_view flag, const PsPolicy& policy) {
  if (!policy.server_has_parameters()) return absl::OkStatus();
  const bool sync = policy.mode == PsMode::kSync;
  return absl::InvalidArgumentError(
      absl::StrCat(flag, ": needs the whole gradient, which with ",
                   sync ? "--update=server" : absl::StrCat("--ps_mode=", ModeName(policy.mode)),
                   " no process has; use ", sync ? "" : "--ps_mode=sync and ", "--update=worker"));
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
