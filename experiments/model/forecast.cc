#include "experiments/model/forecast.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "experiments/model/cost_fit.h"
#include "experiments/model/cost_formulas.h"
#include "experiments/model/step_simulator.h"
#include "experiments/model/sweep_points.h"
#include "experiments/report/statistics.h"

namespace ringside {
namespace {

constexpr int kSimulatedSteps = 11;

bool Matches(const SweepPoint& point, const HoldOut& hold_out) {
  return (hold_out.workers == 0 || hold_out.workers == point.row.workers()) &&
         (hold_out.setting.empty() || SettingOf(point, hold_out.setting) == hold_out.value);
}

std::string Describe(const HoldOut& hold_out) {
  std::string text;
  if (!hold_out.setting.empty()) text = absl::StrCat(hold_out.setting, "=", hold_out.value);
  if (hold_out.workers > 0) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", hold_out.workers, " workers");
  }
  return text.empty() ? "everything" : text;
}

absl::Status CheckAllMatch(const std::vector<SweepPoint>& points,
                           const std::vector<HoldOut>& hold_outs) {
  for (const HoldOut& hold_out : hold_outs) {
    const bool any = std::any_of(points.begin(), points.end(),
                                 [&](const SweepPoint& point) { return Matches(point, hold_out); });
    if (!any) {
      return absl::InvalidArgumentError(
          absl::StrCat("hold-out ", Describe(hold_out), ": no point of the sweep is so"));
    }
  }
  return absl::OkStatus();
}

void Foretell(const StepJob& job, ForecastRow* row) {
  row->set_predicted_s(EstimateStep(job).step_s);
  row->set_efficiency(Efficiency(job, row->predicted_s()));
  SimulationConfig simulation;
  simulation.steps = kSimulatedSteps;
  const auto steps = SimulateSteps(job, simulation);
  if (steps.ok()) row->set_simulated_s(Median(*steps));
}

}  // namespace

absl::StatusOr<Forecast> ForecastSweep(const ComparisonResult& comparison,
                                       const std::vector<HoldOut>& hold_outs) {
  const std::vector<SweepPoint> points = PointsOf(comparison);
  RINGSIDE_RETURN_IF_ERROR(CheckAllMatch(points, hold_outs));
  std::vector<bool> seen;
  std::vector<const SweepPoint*> to_fit;
  for (const SweepPoint& point : points) {
    seen.push_back(std::none_of(hold_outs.begin(), hold_outs.end(),
                                [&](const HoldOut& hold_out) { return Matches(point, hold_out); }));
    if (seen.back()) to_fit.push_back(&point);
  }
  Forecast forecast;
  RINGSIDE_ASSIGN_OR_RETURN(*forecast.mutable_model(), FitCosts(to_fit));
  for (size_t i = 0; i < points.size(); ++i) {
    const absl::StatusOr<StepJob> job = JobUnder(forecast.model(), points[i]);
    if (!job.ok()) continue;
    ForecastRow* row = forecast.add_rows();
    *row = points[i].row;
    row->set_in_fit(seen[i]);
    Foretell(*job, row);
  }
  return forecast;
}

}  // namespace ringside
