#include "experiments/model/failure_estimate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "experiments/model/cost_formulas.h"
#include "experiments/model/step_simulator.h"

namespace ringside {
namespace {

// Below, nearly all work is lost: it counts as none.
constexpr double kLeastGoodput = 1e-6;
constexpr double kLeastSimulatedGoodput = 0.01;
constexpr double kSimulatedFailures = 2'000;
constexpr double kMostSimulatedIntervals = 200'000;
constexpr double kMostSteps = 1e15;

double Goodput(const FailureAssumptions& assumptions, double mtbf_s, double interval_s) {
  const double goodput =
      interval_s / ExpectedTrainingSeconds(interval_s, mtbf_s, interval_s, assumptions.checkpoint_s,
                                           assumptions.restart_s);
  return goodput >= kLeastGoodput ? goodput : 0;
}

// Whole steps next to the best interval: cost has one minimum, so the better of two neighbours.
int64_t BestSteps(const FailureAssumptions& assumptions, double mtbf_s, double step_s) {
  const double best = BestCheckpointInterval(mtbf_s, assumptions.checkpoint_s) / step_s;
  const double fewer = std::clamp(std::floor(best), 1.0, kMostSteps);
  const double more = fewer + 1;
  return static_cast<int64_t>(Goodput(assumptions, mtbf_s, fewer * step_s) >=
                                      Goodput(assumptions, mtbf_s, more * step_s)
                                  ? fewer
                                  : more);
}

}  // namespace

// With x = interval / mtbf and d = checkpoint / mtbf, the derivative of (e^(x + d) - 1) / x is 0
// where 1 - x = e^-(x + d). The left side less the right one falls from above 0 at x = 0 to below
// it at x = 1.
double BestCheckpointInterval(double mtbf_s, double checkpoint_s) {
  const double checkpoint = checkpoint_s / mtbf_s;
  double low = 0;
  double high = 1;
  for (int halving = 0; halving < 100; ++halving) {
    const double middle = (low + high) / 2;
    (-std::expm1(-(middle + checkpoint)) > middle ? low : high) = middle;
  }
  return (low + high) / 2 * mtbf_s;
}

FailureEstimate EstimateFailures(const FailureAssumptions& assumptions, const StepJob& job,
                                 double step_s) {
  FailureEstimate estimate;
  estimate.processes = NumProcesses(job);
  estimate.mtbf_s = assumptions.process_mtbf_s / estimate.processes;
  estimate.checkpoint_steps = assumptions.checkpoint_steps > 0
                                  ? assumptions.checkpoint_steps
                                  : BestSteps(assumptions, estimate.mtbf_s, step_s);
  estimate.goodput = Goodput(assumptions, estimate.mtbf_s,
                             static_cast<double>(estimate.checkpoint_steps) * step_s);
  estimate.step_s =
      estimate.goodput > 0 ? step_s / estimate.goodput : std::numeric_limits<double>::infinity();
  return estimate;
}

double SimulateGoodput(const FailureAssumptions& assumptions, const FailureEstimate& estimate,
                       double step_s) {
  if (estimate.goodput < kLeastSimulatedGoodput) return 0;
  FailureConfig config;
  config.mtbf_s = estimate.mtbf_s;
  config.interval_s = static_cast<double>(estimate.checkpoint_steps) * step_s;
  config.checkpoint_s = assumptions.checkpoint_s;
  config.restart_s = assumptions.restart_s;
  const double intervals =
      kSimulatedFailures * estimate.mtbf_s * estimate.goodput / config.interval_s;
  const double work_s =
      config.interval_s * std::ceil(std::clamp(intervals, 1.0, kMostSimulatedIntervals));
  return work_s / SimulateTraining(work_s, config);
}

}  // namespace ringside
