// How the parameter server of a run treated what workers pushed, and what follows for a report.
// Pure functions.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_SERVER_MODE_H_
#define RINGSIDE_EXPERIMENTS_REPORT_SERVER_MODE_H_

#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "common/ps_policy.h"
#include "results.pb.h"

namespace ringside {

// By the settings of the run; sync with the update on the workers where they do not say (a run of
// another strategy, or an old one).
PsPolicy PolicyOf(const RunResult& run);

// A worker may leave out steps that the others took without it: of backup.
bool MaySkipSteps(const RunResult& run);
// A shard was lost and replaced; then some of what was sent was sent twice.
bool HadLosses(const RunResult& run);

// Settings of the parameter server that may differ between the runs of a comparison, because it is
// about them.
const std::vector<std::string>& ServerSettings();

// The value of one of them; nothing where the mode of the run takes no notice of it, or where the
// run is of another strategy.
absl::optional<std::string> ServerSetting(const RunResult& run, const std::string& name);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_SERVER_MODE_H_
