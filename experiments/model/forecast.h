// Foretells the points of a sweep that the cost model has not seen.
#ifndef RINGSIDE_EXPERIMENTS_MODEL_FORECAST_H_
#define RINGSIDE_EXPERIMENTS_MODEL_FORECAST_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "results.pb.h"

namespace ringside {

// Points that the fit must not see: all with this value of this setting, which may be "workers" or
// "strategy". Empty: whatever it is.
struct HoldOut {
  std::string setting;
  std::string value;
  int workers = 0;  // 0: any number of them
};

// Fits the cost model to the points of `comparison` that match none of `hold_outs`, and estimates
// and simulates all of them. predicted_s is by formula, simulated_s the median of simulated steps,
// 0 where there are too many messages to simulate. Points of which the model cannot know how long
// they compute are left out, and runs that PointsOf does not know. Pure and deterministic.
// FAILED_PRECONDITION: nothing is left to fit. INVALID_ARGUMENT: a hold-out that no point matches.
absl::StatusOr<Forecast> ForecastSweep(const ComparisonResult& comparison,
                                       const std::vector<HoldOut>& hold_outs);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MODEL_FORECAST_H_
