// Fits the cost model to measured steps.
//
// What the runs say directly is taken: compute times from the records of the steps, the bandwidth
// of a shaped link from the probes. What is left are seven numbers (alpha and CPU per byte of each
// strategy, beta, gamma, the share of a shaped link that payload gets). They minimise the sum of
//
//   huber((formula - measured) / measured)   over the points    (Huber 1964: far ones weigh less)
//   (0.03 * ln(number / expected) / spread)^2  over the numbers
//
// by Levenberg and Marquardt's method in their logarithms, which keeps them positive. The second
// sum decides only what the points leave open: being a whole spread away from what was expected
// weighs as much as an error of 3 % at one point. What is expected of gamma and of the server's CPU
// is what the shards have measured, where there are any. Pure and deterministic.
#ifndef RINGSIDE_EXPERIMENTS_MODEL_COST_FIT_H_
#define RINGSIDE_EXPERIMENTS_MODEL_COST_FIT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "experiments/model/step_job.h"
#include "experiments/model/sweep_points.h"
#include "results.pb.h"

namespace ringside {

// FAILED_PRECONDITION: no points.
absl::StatusOr<CostModel> FitCosts(const std::vector<const SweepPoint*>& points);

LinkCosts CostsOf(const CostModel& model, bool servers);

// The job of a point with costs and compute times of the model, whose network it may be far from.
// NOT_FOUND: the model has seen no run of this model, not even with another batch.
absl::StatusOr<StepJob> JobUnder(const CostModel& model, const SweepPoint& point);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MODEL_COST_FIT_H_
