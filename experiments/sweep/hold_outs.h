// Which points of a sweep its cost model must not see. Pure.
#ifndef RINGSIDE_EXPERIMENTS_SWEEP_HOLD_OUTS_H_
#define RINGSIDE_EXPERIMENTS_SWEEP_HOLD_OUTS_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "common/config/job_settings.h"
#include "experiments/sweep/spec_settings.h"
#include "experiments/sweep/spec_source.h"
#include "sweep.pb.h"

namespace ringside {

// The forecast of the spec, each value as results record it. `recorded` is that of every varied
// setting and value as told. INVALID_ARGUMENT: a held-out point that there is not, or one that
// matches every point.
absl::StatusOr<ForecastSpec> ResolveHoldOuts(const SpecSource& source, const SpecSettings& settings,
                                             const std::map<JobSetting, std::string>& recorded);

// Whether a run at this point, with this number of workers, is held out. Both resolved.
bool IsHeldOut(const ForecastSpec& forecast, const std::map<std::string, std::string>& point,
               int workers);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SWEEP_HOLD_OUTS_H_
