#include "experiments/model/cost_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "experiments/model/cost_formulas.h"
#include "experiments/model/least_squares.h"
#include "experiments/model/model_shapes.h"
#include "experiments/report/statistics.h"

namespace ringside {
namespace {

constexpr double kHuberLimit = 0.05;   // relative error from which on a point weighs less
constexpr double kPriorWeight = 0.03;  // relative error of a point that a spread is worth

// The numbers that are fitted.
enum Number { kAlpha, kServerAlpha, kCpu, kServerCpu, kBeta, kGamma, kLinkShare, kNumbers };

struct Expectation {
  double value;
  double spread;  // of its logarithm
};

using Expectations = std::array<Expectation, kNumbers>;

Expectations ExpectedOf(const std::vector<const SweepPoint*>& points) {
  // Of processors and gRPC as of 2020 (docs/rationale.md), within factors of 2 to 10.
  Expectations expected = {{{100e-6, 1.5},
                            {100e-6, 1.5},
                            {0.4e-9, 0.8},
                            {0.8e-9, 0.8},
                            {0.3e-9, 1.5},
                            {0.1e-9, 0.7},
                            {1.0, 0.05}}};
  std::vector<double> gammas;
  std::vector<double> cpus;
  for (const SweepPoint* point : points) {
    if (point->gamma_s_per_byte > 0) gammas.push_back(point->gamma_s_per_byte);
    if (point->server_cpu_s_per_byte > 0) cpus.push_back(point->server_cpu_s_per_byte);
  }
  if (!gammas.empty()) expected[kGamma] = {Median(gammas), 0.3};
  if (!cpus.empty()) expected[kServerCpu] = {Median(cpus), 0.3};
  return expected;
}

void SetNumbers(const std::vector<double>& x, CostModel* model) {
  model->set_alpha_s(std::exp(x[kAlpha]));
  model->set_server_alpha_s(std::exp(x[kServerAlpha]));
  model->set_cpu_s_per_byte(std::exp(x[kCpu]));
  model->set_server_cpu_s_per_byte(std::exp(x[kServerCpu]));
  model->set_beta_s_per_byte(std::exp(x[kBeta]));
  model->set_gamma_s_per_byte(std::exp(x[kGamma]));
  model->set_link_share(std::exp(x[kLinkShare]));
}

void SetCosts(const CostModel& model, bool shaped, StepJob* job) {
  job->costs = CostsOf(model, job->servers);
  if (shaped && model.link_share() > 0) job->network.bytes_per_s *= model.link_share();
}

ComputeCost CostOf(const std::vector<const SweepPoint*>& points) {
  std::vector<double> before;
  std::vector<double> backward;
  std::vector<double> after;
  std::vector<double> spread;
  for (const SweepPoint* point : points) {
    const double shortage = CoreShortage(point->job);
    const double computing = point->compute.holds_core ? shortage : 1;
    before.push_back(point->compute.before_backward_s / computing);
    backward.push_back(point->compute.backward_s / computing);
    after.push_back(point->compute.after_s / shortage);
    spread.push_back(point->compute.spread_s);
  }
  ComputeCost cost;
  cost.set_before_backward_s(Median(before));
  cost.set_backward_s(Median(backward));
  cost.set_after_s(Median(after));
  cost.set_spread_s(Median(spread));
  return cost;
}

// By workload; compute_s is that of the one with the most points.
void SetCompute(const std::vector<const SweepPoint*>& points, CostModel* model) {
  std::map<std::string, std::vector<const SweepPoint*>> by_workload;
  for (const SweepPoint* point : points) by_workload[WorkloadOf(*point)].push_back(point);
  size_t most = 0;
  for (const auto& [workload, members] : by_workload) {
    const ComputeCost cost = CostOf(members);
    (*model->mutable_compute())[workload] = cost;
    if (members.size() <= most) continue;
    most = members.size();
    model->set_compute_s(cost.before_backward_s() + cost.backward_s() + cost.after_s());
    model->set_compute_spread_s(cost.spread_s());
  }
}

void SetCompute(const ComputeCost& cost, double scale, StepJob* job) {
  job->compute.before_backward_s = cost.before_backward_s() * scale;
  job->compute.backward_s = cost.backward_s() * scale;
  job->compute.after_s = cost.after_s();
  job->compute.spread_s = cost.spread_s() * scale;
}

// The same model with another batch: time goes with the samples.
bool SetComputeOfOtherBatch(const CostModel& model, const SweepPoint& point, StepJob* job) {
  double nearest = 0;
  const ComputeCost* found = nullptr;
  const std::string prefix = absl::StrCat(point.base, " batch ");
  for (const auto& [workload, cost] : model.compute()) {
    double batch = 0;
    if (workload.rfind(prefix, 0) != 0 ||
        !absl::SimpleAtod(workload.substr(prefix.size()), &batch)) {
      continue;
    }
    const double distance = std::abs(std::log(batch / point.rank_batch));
    if (found != nullptr && distance >= std::abs(std::log(nearest / point.rank_batch))) continue;
    nearest = batch;
    found = &cost;
  }
  if (found != nullptr) SetCompute(*found, point.rank_batch / nearest, job);
  return found != nullptr;
}

// The workload shapes says how long it computes; its optimizer takes what others' did.
bool SetComputeOfShapes(const CostModel& model, const SweepPoint& point, StepJob* job) {
  double compute_ms = 0;
  if (point.base.rfind("shapes ", 0) != 0 || model.compute().empty()) return false;
  const std::string text = ArgumentOf(point.base.substr(7), "compute_ms");
  if (!text.empty() && !absl::SimpleAtod(text, &compute_ms)) return false;
  job->compute.before_backward_s = compute_ms * 1e-3 / 3;
  job->compute.backward_s = compute_ms * 1e-3 * 2 / 3;
  std::vector<double> after;
  for (const auto& workload : model.compute()) after.push_back(workload.second.after_s());
  job->compute.after_s = Median(after);
  job->compute.spread_s = model.compute_spread_s();
  return true;
}

}  // namespace

LinkCosts CostsOf(const CostModel& model, bool servers) {
  LinkCosts costs;
  costs.alpha_s = servers ? model.server_alpha_s() : model.alpha_s();
  costs.cpu_s_per_byte = servers ? model.server_cpu_s_per_byte() : model.cpu_s_per_byte();
  costs.beta_s_per_byte = model.beta_s_per_byte();
  costs.gamma_s_per_byte = model.gamma_s_per_byte();
  return costs;
}

absl::StatusOr<StepJob> JobUnder(const CostModel& model, const SweepPoint& point) {
  StepJob job = point.job;
  SetCosts(model, point.shaped, &job);
  const auto found = model.compute().find(WorkloadOf(point));
  if (found != model.compute().end()) {
    SetCompute(found->second, 1, &job);
  } else if (!SetComputeOfOtherBatch(model, point, &job) &&
             !SetComputeOfShapes(model, point, &job)) {
    return absl::NotFoundError(absl::StrCat("the fit has seen no run of ", WorkloadOf(point),
                                            ", so it does not know how long that computes"));
  }
  return job;
}

absl::StatusOr<CostModel> FitCosts(const std::vector<const SweepPoint*>& points) {
  if (points.empty()) {
    return absl::FailedPreconditionError(
        "the cost model needs runs of ring or of synchronous ps with counted steps");
  }
  CostModel model;
  SetCompute(points, &model);
  std::vector<StepJob> jobs;
  for (const SweepPoint* point : points) {
    RINGSIDE_ASSIGN_OR_RETURN(StepJob job, JobUnder(model, *point));
    jobs.push_back(std::move(job));
  }
  const auto errors = [&](const std::vector<double>& x) {
    CostModel trial;
    SetNumbers(x, &trial);
    std::vector<double> relative;
    for (size_t i = 0; i < jobs.size(); ++i) {
      StepJob job = jobs[i];
      SetCosts(trial, points[i]->shaped, &job);
      const double measured = points[i]->row.measured_s().median();
      relative.push_back(EstimateStep(job).step_s / measured - 1);
    }
    return relative;
  };
  const Expectations expected = ExpectedOf(points);
  const auto residuals = [&](const std::vector<double>& x) {
    std::vector<double> all = errors(x);
    for (double& error : all) error = HuberResidual(error, kHuberLimit);
    for (int i = 0; i < kNumbers; ++i) {
      all.push_back(kPriorWeight * (x[i] - std::log(expected[i].value)) / expected[i].spread);
    }
    return all;
  };
  // The formulas have kinks where the bottleneck changes: the best of several starts.
  std::vector<double> best;
  for (const double factor : {1.0, 0.2, 5.0}) {
    std::vector<double> start;
    for (int i = 0; i < kNumbers; ++i) {
      start.push_back(std::log(expected[i].value * (i == kLinkShare ? 1 : factor)));
    }
    std::vector<double> x = MinimiseSquares(residuals, std::move(start));
    if (best.empty() || SumOfSquares(residuals(x)) < SumOfSquares(residuals(best))) {
      best = std::move(x);
    }
  }
  SetNumbers(best, &model);
  const bool any_shaped = std::any_of(points.begin(), points.end(),
                                      [](const SweepPoint* point) { return point->shaped; });
  if (!any_shaped) model.set_link_share(0);
  model.set_points(static_cast<int>(points.size()));
  model.set_residual_rms(
      std::sqrt(SumOfSquares(errors(best)) / static_cast<double>(points.size())));
  return model;
}

}  // namespace ringside
