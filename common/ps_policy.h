// How a parameter server treats what workers push: the mode, and where the optimizer runs.
#ifndef RINGSIDE_COMMON_PS_POLICY_H_
#define RINGSIDE_COMMON_PS_POLICY_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ringside {

enum class PsMode {
  kSync,    // a step is over when every worker's gradient is in it
  kAsync,   // every push is applied on arrival (Hogwild and Downpour SGD: Dean et al. 2012)
  kSsp,     // async, but no worker is more than `staleness` steps ahead (Ho et al. 2013)
  kBackup,  // a step takes the first N - b workers, the others are late (Chen et al. 2016)
};

struct PsPolicy {
  PsMode mode = PsMode::kSync;
  bool update_on_server = false;  // of sync; the other modes always update there
  int staleness = 0;              // of ssp, in steps
  int backup_workers = 0;         // of backup: b

  // The shards hold the parameters, workers take them from there.
  bool server_has_parameters() const { return mode != PsMode::kSync || update_on_server; }
  // Workers apply steps alone, without the others' gradients of the same step.
  bool is_asynchronous() const { return mode == PsMode::kAsync || mode == PsMode::kSsp; }
};

// What a report calls runs of this policy, so that one mode is told from another: "ps", "ps
// server-update", "ps async", "ps ssp 3", "ps backup 1".
std::string StrategyName(const PsPolicy& policy);

// For what only the whole sum of a step's gradients can tell, like its norm. INVALID_ARGUMENT where
// no process has it, because shards update their own parts: names `flag` ("--clip_norm=1"), the
// flag that stands in its way, and what to choose instead.
absl::Status RequireWholeGradient(absl::string_view flag, const PsPolicy& policy);

// "sync", "async", "ssp" or "backup". INVALID_ARGUMENT otherwise.
absl::StatusOr<PsMode> ParsePsMode(absl::string_view name);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_PS_POLICY_H_
