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
#include "experiments/model/step_simulator.h"
#include "experiments/model/sweep_points.h"
#include "experiments/report/number_text.h"
#include "experiments/report/statistics.h"

namespace ringside {
namespace {

constexpr int kMostWorkers = 65'536;
constexpr int kSimulatedSteps = 5;
// Of larger jobs one step is simulated: their ranks are many enough to draw from.
constexpr int64_t kManyMessages = 50'000;
// The simulation of larger jobs takes too long to wait for; the formulas know them too.
constexpr int kMostSimulatedWorkers = 2'048;
// How far from what was measured a prediction may go without a warning.
constexpr double kFar = 4;

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

std::string BandwidthText(double mbit) {
  return mbit >= 1000 ? absl::StrCat(RoundedNumber(mbit / 1000), " Gbit/s")
                      : absl::StrCat(RoundedNumber(mbit), " Mbit/s");
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
    *prediction_.forecast.mutable_model() = model_;
    for (int workers : request_.workers) {
      for (const Series& series : {kRing, kDedicated, kColocated}) AddRow(series, workers);
    }
    AddCurve();
    FindCrossovers();
    Assume();
    Warn();
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
    job_.buckets = BucketsOf(plan);
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

  double Seconds(const Series& series, int workers) const {
    return EstimateStep(JobOf(series, workers)).step_s;
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
        prediction_.curve.push_back(RowOf(series, JobOf(series, workers)));
      }
    }
  }

  void AddRow(const Series& series, int workers) {
    const StepJob job = JobOf(series, workers);
    ForecastRow* row = prediction_.forecast.add_rows();
    *row = RowOf(series, job);
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
    return Seconds(kRing, workers) < Seconds(kDedicated, workers);
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
      const double ring_s = EstimateStep(ring).step_s;
      const double ps_s = EstimateStep(ps).step_s;
      return ring_s < ps_s * (1 - 1e-6);
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

  void Assume() {
    const ComputeTimes& compute = job_.compute;
    std::vector<std::string>& lines = prediction_.assumptions;
    lines.push_back(absl::StrCat("A rank computes ",
                                 ringside::Seconds(compute.before_backward_s + compute.backward_s),
                                 " a step and updates in ", ringside::Seconds(compute.after_s),
                                 request_.compute_s.has_value() ? ", as told," : ", as measured,",
                                 " whatever the number of workers: weak scaling."));
    lines.push_back(absl::StrCat(WholeNumber(elements_), " parameters",
                                 request_.model.empty() ? "" : absl::StrCat(" of ", request_.model),
                                 shapes_are_even_ ? ", cut into equal tensors" : "", ", in ",
                                 Counted(static_cast<int64_t>(job_.buckets.size()), "bucket"),
                                 "."));
    lines.push_back(
        "Every worker has a host of its own with enough cores; so has each dedicated shard, and "
        "each colocated one shares the network card of its worker.");
    lines.push_back(absl::StrCat(
        job_.network.bytes_per_s > 0
            ? absl::StrCat("Payload passes a link at ",
                           BandwidthText(job_.network.bytes_per_s * 8 / 1e6))
            : absl::StrCat("A link takes ", RoundedNumber(model_.beta_s_per_byte() * 1e9),
                           " ns per byte, as between the measured processes"),
        " each way, with a latency of ", ringside::Seconds(job_.network.latency_s), "."));
    lines.push_back(
        "Links of different hosts do not slow each other: no switch is oversubscribed.");
  }

  void Warn() {
    std::vector<std::string>& lines = prediction_.warnings;
    int most_workers = 0;
    double fastest = 0;
    bool shaped = false;
    int64_t most_elements = 0;
    for (const SweepPoint& point : points_) {
      most_workers = std::max(most_workers, point.job.workers);
      shaped = shaped || point.shaped;
      fastest = std::max(fastest, point.job.network.bytes_per_s);
      int64_t elements = 0;
      for (const ModelBucket& bucket : point.job.buckets) elements += bucket.elements;
      most_elements = std::max(most_elements, elements);
    }
    const int asked = *std::max_element(request_.workers.begin(), request_.workers.end());
    if (asked > kFar * most_workers) {
      lines.push_back(absl::StrCat(Counted(asked, "worker"), " are far beyond the ", most_workers,
                                   " that were measured."));
    }
    if (!shaped) {
      lines.push_back(
          "No run crossed a network of known bandwidth: the costs of messages and bytes are those "
          "of processes on one host.");
    } else if (job_.network.bytes_per_s > kFar * fastest) {
      lines.push_back(
          absl::StrCat(BandwidthText(job_.network.bytes_per_s * 8 / 1e6), " is far beyond the ",
                       BandwidthText(fastest * 8 / 1e6),
                       " that were measured: the cost of the processors decides there."));
    }
    if (static_cast<double>(elements_) > kFar * static_cast<double>(most_elements)) {
      lines.push_back(absl::StrCat(WholeNumber(elements_), " parameters are far beyond the ",
                                   WholeNumber(most_elements), " that were measured."));
    }
    if (!request_.model.empty() && !request_.compute_s.has_value()) {
      lines.push_back(absl::StrCat("How long ", request_.model,
                                   " computes is not known: the time of the measured model is "
                                   "taken; --compute=DURATION gives another."));
    }
    if (model_.residual_rms() > 0.1) {
      lines.push_back(absl::StrCat("The model is off by ", Percent(model_.residual_rms(), 0),
                                   " (root mean square) where it was fitted."));
    }
    if (model_.points() < 4) {
      lines.push_back(absl::StrCat("The model is fitted to ", Counted(model_.points(), "setting"),
                                   ": most of its costs are what such machines usually take."));
    }
  }

  const PredictionRequest& request_;
  const std::vector<SweepPoint>& points_;
  const SweepPoint& base_;
  CostModel model_;
  StepJob job_;
  int64_t elements_ = 0;
  bool shapes_are_even_ = false;
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
