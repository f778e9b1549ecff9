#include "experiments/model/prediction.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/bucket_plan.h"
#include "common/shape_presets.h"
#include "common/status_macros.h"
#include "experiments/model/cost_fit.h"
#include "experiments/model/cost_formulas.h"
#include "experiments/model/model_shapes.h"
#include "experiments/model/payload_rate.h"
#include "experiments/model/prediction_notes.h"
#include "experiments/model/step_simulator.h"
#include "experiments/model/sweep_points.h"
#include "experiments/report/statistics.h"

namespace ringside {
namespace {

constexpr int kMostWorkers = 65'536;
constexpr int kSimulatedSteps = 5;
// Of larger jobs one step is simulated: their ranks are many enough to draw from.
constexpr int64_t kManyMessages = 50'000;
// The simulation of larger jobs takes too long to wait for; the formulas know them too.
constexpr int kMostSimulatedWorkers = 2'048;

struct Series {
  bool servers = false;
  Placement placement = Placement::kDedicated;
};
constexpr Series kRing = {false, Placement::kDedicated};
constexpr Series kDedicated = {true, Placement::kDedicated};
constexpr Series kColocated = {true, Placement::kColocated};

std::string LabelOf(const Series& series) {
  if (!series.servers) return "ring";
  return series.placement == Placement::kDedicated ? "ps, dedicated" : "ps, colocated";
}

class Predictor {
 public:
  Predictor(const PredictionRequest& request, const std::vector<SweepPoint>& points)
      : request_(request), points_(points), base_(Largest(points)) {}

  absl::StatusOr<Prediction> Run() {
    RINGSIDE_RETURN_IF_ERROR(Check());
    std::vector<const SweepPoint*> all;
    for (const SweepPoint& point : points_) all.push_back(&point);
    RINGSIDE_ASSIGN_OR_RETURN(model_, FitCosts(all));
    RINGSIDE_RETURN_IF_ERROR(MakeJob());
    RINGSIDE_RETURN_IF_ERROR(SetFailures());
    *prediction_.forecast.mutable_model() = model_;
    for (int workers : request_.workers) {
      for (const Series& series : {kRing, kDedicated, kColocated}) AddRow(series, workers);
    }
    AddCurve();
    FindCrossovers();
    const PredictionBasis basis = {request_,  points_,          model_,   job_,
                                   elements_, shapes_are_even_, failures_};
    prediction_.assumptions = Assumptions(basis);
    prediction_.warnings = Warnings(basis);
    return std::move(prediction_);
  }

 private:
  // Whose settings are kept: the run of the most workers, a shaped one where there is any.
  static const SweepPoint& Largest(const std::vector<SweepPoint>& points) {
    return *std::max_element(points.begin(), points.end(), [](const auto& a, const auto& b) {
      return std::make_pair(a.shaped, a.job.workers) < std::make_pair(b.shaped, b.job.workers);
    });
  }

  absl::Status Check() const {
    if (request_.workers.empty()) {
      return absl::InvalidArgumentError("--workers: needs at least one number of workers");
    }
    for (int workers : request_.workers) {
      if (workers >= 1 && workers <= kMostWorkers) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("--workers=", workers, ": must be from 1 to ", kMostWorkers));
    }
    if (request_.shards < 1 || request_.shards > kMostWorkers) {
      return absl::InvalidArgumentError(
          absl::StrCat("--ps_shards=", request_.shards, ": must be from 1 to ", kMostWorkers));
    }
    return absl::OkStatus();
  }

  absl::Status MakeJob() {
    RINGSIDE_ASSIGN_OR_RETURN(job_, JobUnder(model_, base_));
    job_.one_machine = false;
    job_.cores = 0;
    job_.workers_per_host = 1;
    job_.lookahead = 16;
    if (request_.bandwidth_mbit.has_value()) {
      const double share = model_.link_share() > 0 ? model_.link_share() : 1;
      job_.network.bytes_per_s = PayloadBytesPerSecond(*request_.bandwidth_mbit) * share;
    }
    if (request_.latency_us.has_value()) job_.network.latency_s = *request_.latency_us * 1e-6;
    RINGSIDE_RETURN_IF_ERROR(SetModel());
    if (request_.compute_s.has_value()) ScaleCompute(*request_.compute_s);
    return absl::OkStatus();
  }

  absl::Status SetModel() {
    elements_ = 0;
    for (const ModelBucket& bucket : base_.job.buckets) elements_ += bucket.elements;
    if (request_.model.empty() && request_.parameters == 0 && !request_.bucket_bytes.has_value()) {
      return absl::OkStatus();
    }
    bool exact = false;
    const std::pair<std::string, std::string> of_runs =
        absl::StrSplit(base_.base, absl::MaxSplits(' ', 1));
    const bool another = !request_.model.empty() || request_.parameters > 0;
    const int64_t wanted = request_.parameters > 0  ? request_.parameters
                           : request_.model.empty() ? elements_
                                                    : 0;
    const auto shapes = another ? ShapesOfModel(request_.model, "", wanted, &exact)
                                : ShapesOfModel(of_runs.first, of_runs.second, wanted, &exact);
    if (shapes.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--model=", request_.model, ": must be one of ", absl::StrJoin(KnownShapePresets(), ", "),
          "; give the size of others by --parameters, such as --parameters=25.6M"));
    }
    RINGSIDE_ASSIGN_OR_RETURN(const BucketPlan plan,
                              BucketPlan::Create(shapes, FirstBucketBytes(),
                                                 request_.bucket_bytes.value_or(BucketBytes())));
    job_.buckets = BucketsOf(plan.lengths());
    elements_ = plan.total_elements();
    shapes_are_even_ = !exact;
    return absl::OkStatus();
  }

  int64_t FirstBucketBytes() const {
    const std::string text = SettingOf(base_, "first_bucket_bytes");
    return text.empty() ? 256 << 10 : std::max<int64_t>(1, std::atoll(text.c_str()));
  }
  int64_t BucketBytes() const {
    const std::string text = SettingOf(base_, "bucket_bytes");
    return text.empty() ? 4 << 20 : std::max<int64_t>(1, std::atoll(text.c_str()));
  }

  void ScaleCompute(double seconds) {
    ComputeTimes& compute = job_.compute;
    const double measured = compute.before_backward_s + compute.backward_s + compute.after_s;
    if (measured <= 0) {
      compute.before_backward_s = seconds / 3;
      compute.backward_s = seconds * 2 / 3;
      return;
    }
    const double factor = seconds / measured;
    compute.before_backward_s *= factor;
    compute.backward_s *= factor;
    compute.after_s *= factor;
    compute.spread_s *= factor;
  }

  absl::Status SetFailures() {
    if (!request_.failures.has_value()) return absl::OkStatus();
    const FailureRequest& asked = *request_.failures;
    if (!(asked.mtbf_s > 0) || !std::isfinite(asked.mtbf_s)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--mtbf: ", asked.mtbf_s, " s must be positive"));
    }
    if (asked.checkpoint_steps < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("--checkpoint_steps=", asked.checkpoint_steps,
                       ": must be positive, or 0 for as many as cost least"));
    }
    failures_.emplace();
    failures_->process_mtbf_s = asked.mtbf_s;
    failures_->restart_s = asked.restart_s;
    failures_->checkpoint_steps = asked.checkpoint_steps;
    const absl::optional<double> checkpoint_s = asked.checkpoint_s.has_value()
                                                    ? asked.checkpoint_s
                                                    : MeasuredCheckpointSeconds(points_, elements_);
    if (!checkpoint_s.has_value()) {
      return absl::InvalidArgumentError(
          "--mtbf: how long a checkpoint stops training is not known, because no run here wrote "
          "one; give it by --checkpoint_cost, such as --checkpoint_cost=2s");
    }
    failures_->checkpoint_s = *checkpoint_s;
    return absl::OkStatus();
  }

  StepJob JobOf(const Series& series, int workers) const {
    StepJob job = job_;
    job.servers = series.servers;
    job.costs = CostsOf(model_, series.servers);
    job.workers = workers;
    job.placement = series.placement;
    job.shards = !series.servers                             ? 0
                 : series.placement == Placement::kColocated ? workers
                                                             : request_.shards;
    return job;
  }

  // Of a step; where failures were asked about, of all time per step that counts.
  double Cost(const StepJob& job) const {
    const double step_s = EstimateStep(job).step_s;
    return failures_.has_value() ? EstimateFailures(*failures_, job, step_s).step_s : step_s;
  }

  ForecastRow RowOf(const Series& series, const StepJob& job) const {
    ForecastRow row;
    row.set_workers(job.workers);
    row.set_strategy(series.servers ? "ps" : "ring");
    row.set_shards(job.shards);
    if (series.servers) {
      row.set_placement(series.placement == Placement::kDedicated ? "dedicated" : "colocated");
    }
    row.set_predicted_s(EstimateStep(job).step_s);
    row.set_efficiency(Efficiency(job, row.predicted_s()));
    return row;
  }

  void AddCurve() {
    constexpr int kPoints = 32;
    const auto ends = std::minmax_element(request_.workers.begin(), request_.workers.end());
    const double ratio = static_cast<double>(*ends.second) / *ends.first;
    int last = 0;
    for (int i = 0; i <= kPoints; ++i) {
      const double exact = *ends.first * std::pow(ratio, static_cast<double>(i) / kPoints);
      const int workers = static_cast<int>(std::lround(exact));
      if (workers == last) continue;
      last = workers;
      for (const Series& series : {kRing, kDedicated, kColocated}) {
        const StepJob job = JobOf(series, workers);
        prediction_.curve.push_back(RowOf(series, job));
        if (!failures_.has_value()) continue;
        prediction_.curve_under_failures.push_back(
            EstimateFailures(*failures_, job, prediction_.curve.back().predicted_s()));
      }
    }
  }

  void AddRow(const Series& series, int workers) {
    const StepJob job = JobOf(series, workers);
    ForecastRow* row = prediction_.forecast.add_rows();
    *row = RowOf(series, job);
    if (failures_.has_value()) {
      FailureEstimate estimate = EstimateFailures(*failures_, job, row->predicted_s());
      estimate.simulated_goodput = SimulateGoodput(*failures_, estimate, row->predicted_s());
      prediction_.under_failures.push_back(estimate);
    }
    if (workers > kMostSimulatedWorkers) return;
    SimulationConfig simulation;
    const auto buckets = static_cast<int64_t>(job.buckets.size());
    const int64_t messages = buckets * workers * (job.servers ? job.shards : workers);
    simulation.steps = messages > kManyMessages ? 1 : kSimulatedSteps;
    const auto steps = SimulateSteps(job, simulation);
    if (steps.ok()) row->set_simulated_s(Median(*steps));
  }

  void FindCrossovers() {
    std::vector<int> workers = request_.workers;
    std::sort(workers.begin(), workers.end());
    for (size_t i = 0; i + 1 < workers.size(); ++i)
      AddCrossoverOfWorkers(workers[i], workers[i + 1]);
    for (int count : workers) AddCrossoversOfBandwidth(count);
  }

  bool RingIsFaster(int workers) const {
    return Cost(JobOf(kRing, workers)) < Cost(JobOf(kDedicated, workers));
  }

  void AddCrossoverOfWorkers(int low, int high) {
    const bool ring_below = RingIsFaster(low);
    if (ring_below == RingIsFaster(high)) return;
    while (high - low > 1) {
      const int middle = low + (high - low) / 2;
      (RingIsFaster(middle) == ring_below ? low : high) = middle;
    }
    AddCrossover("workers", ring_below, 0, low, high);
  }

  // Within a factor of 64 of the bandwidth that was asked about.
  void AddCrossoversOfBandwidth(int workers) {
    if (!request_.bandwidth_mbit.has_value()) return;
    constexpr int kSteps = 48;
    const auto mbit = [&](double i) {
      return *request_.bandwidth_mbit * std::exp2(12.0 * i / kSteps - 6);
    };
    const auto ring_is_faster = [&](double i) {
      StepJob ring = JobOf(kRing, workers);
      StepJob ps = JobOf(kDedicated, workers);
      const double share = model_.link_share() > 0 ? model_.link_share() : 1;
      ring.network.bytes_per_s = ps.network.bytes_per_s = PayloadBytesPerSecond(mbit(i)) * share;
      return Cost(ring) < Cost(ps) * (1 - 1e-6);
    };
    for (int i = 0; i < kSteps; ++i) {
      double low = i;
      double high = i + 1;
      const bool ring_below = ring_is_faster(low);
      if (ring_below == ring_is_faster(high)) continue;
      for (int halving = 0; halving < 20; ++halving) {
        const double middle = (low + high) / 2;
        (ring_is_faster(middle) == ring_below ? low : high) = middle;
      }
      AddCrossover("bandwidth", ring_below, workers, mbit(low), mbit(high));
    }
  }

  void AddCrossover(const std::string& setting, bool ring_below, int workers, double low,
                    double high) {
    Crossover crossover;
    crossover.set_setting(setting);
    crossover.set_workers(workers);
    crossover.set_faster_below(LabelOf(ring_below ? kRing : kDedicated));
    crossover.set_faster_above(LabelOf(ring_below ? kDedicated : kRing));
    crossover.mutable_value()->set_low(low);
    crossover.mutable_value()->set_median(setting == "workers" ? high : (low + high) / 2);
    crossover.mutable_value()->set_high(high);
    prediction_.crossovers.push_back(crossover);
  }

  const PredictionRequest& request_;
  const std::vector<SweepPoint>& points_;
  const SweepPoint& base_;
  CostModel model_;
  StepJob job_;
  int64_t elements_ = 0;
  bool shapes_are_even_ = false;
  absl::optional<FailureAssumptions> failures_;
  Prediction prediction_;
};

}  // namespace

std::string SeriesOf(const ForecastRow& row) {
  return row.strategy() == "ring" ? "ring" : absl::StrCat("ps, ", row.placement());
}

absl::StatusOr<Prediction> Predict(const ComparisonResult& comparison,
                                   const PredictionRequest& request) {
  const std::vector<SweepPoint> points = PointsOf(comparison);
  if (points.empty()) {
    return absl::FailedPreconditionError(
        "no run of ring or of synchronous ps with counted steps to learn from");
  }
  return Predictor(request, points).Run();
}

}  // namespace ringside
