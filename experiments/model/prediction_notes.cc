#include "experiments/model/prediction_notes.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "experiments/model/prediction_text.h"
#include "experiments/report/number_text.h"

namespace ringside {
namespace {

// How far from what was measured a prediction may go without a warning.
constexpr double kFar = 4;

std::string BandwidthText(double mbit) {
  return mbit >= 1000 ? absl::StrCat(RoundedNumber(mbit / 1000), " Gbit/s")
                      : absl::StrCat(RoundedNumber(mbit), " Mbit/s");
}

int64_t ElementsOf(const StepJob& job) {
  int64_t elements = 0;
  for (const ModelBucket& bucket : job.buckets) elements += bucket.elements;
  return elements;
}

void AssumeFailures(const PredictionBasis& basis, std::vector<std::string>* lines) {
  const FailureAssumptions& failures = *basis.failures;
  lines->push_back(absl::StrCat(
      "Each process, worker or shard, fails every ", DurationText(failures.process_mtbf_s),
      " on the average, at random and independently of the others. Any failure stops the job, "
      "which goes back to its last checkpoint and trains again after ",
      DurationText(failures.restart_s), "; it may fail meanwhile."));
  lines->push_back(absl::StrCat(
      "A checkpoint stops training for ", DurationText(failures.checkpoint_s),
      basis.request.failures->checkpoint_s.has_value()
          ? ", as told"
          : ", as measured and in proportion to the parameters",
      failures.checkpoint_steps > 0
          ? absl::StrCat(", and follows the one before after ",
                         Counted(failures.checkpoint_steps, "step"), ".")
          : ", and follows the one before after as many steps as cost least (Daly 2006; about the "
            "root of 2 x checkpoint x time between failures of the job, Young 1974)."));
}

}  // namespace

std::vector<std::string> Assumptions(const PredictionBasis& basis) {
  const PredictionRequest& request = basis.request;
  const StepJob& job = basis.job;
  const ComputeTimes& compute = job.compute;
  std::vector<std::string> lines;
  lines.push_back(absl::StrCat("A rank computes ",
                               Seconds(compute.before_backward_s + compute.backward_s),
                               " a step and updates in ", Seconds(compute.after_s),
                               request.compute_s.has_value() ? ", as told," : ", as measured,",
                               " whatever the number of workers: weak scaling."));
  lines.push_back(absl::StrCat(WholeNumber(basis.elements), " parameters",
                               request.model.empty() ? "" : absl::StrCat(" of ", request.model),
                               basis.shapes_are_even ? ", cut into equal tensors" : "", ", in ",
                               Counted(static_cast<int64_t>(job.buckets.size()), "bucket"), "."));
  lines.push_back(
      "Every worker has a host of its own with enough cores; so has each dedicated shard, and "
      "each colocated one shares the network card of its worker.");
  lines.push_back(absl::StrCat(
      job.network.bytes_per_s > 0
          ? absl::StrCat("Payload passes a link at ",
                         BandwidthText(job.network.bytes_per_s * 8 / 1e6))
          : absl::StrCat("A link takes ", RoundedNumber(basis.model.beta_s_per_byte() * 1e9),
                         " ns per byte, as between the measured processes"),
      " each way, with a latency of ", Seconds(job.network.latency_s), "."));
  lines.push_back("Links of different hosts do not slow each other: no switch is oversubscribed.");
  if (basis.failures.has_value()) AssumeFailures(basis, &lines);
  return lines;
}

std::vector<std::string> Warnings(const PredictionBasis& basis) {
  const PredictionRequest& request = basis.request;
  const CostModel& model = basis.model;
  std::vector<std::string> lines;
  int most_workers = 0;
  double fastest = 0;
  bool shaped = false;
  int64_t most_elements = 0;
  for (const SweepPoint& point : basis.points) {
    most_workers = std::max(most_workers, point.job.workers);
    shaped = shaped || point.shaped;
    fastest = std::max(fastest, point.job.network.bytes_per_s);
    most_elements = std::max(most_elements, ElementsOf(point.job));
  }
  const int asked = *std::max_element(request.workers.begin(), request.workers.end());
  if (asked > kFar * most_workers) {
    lines.push_back(absl::StrCat(Counted(asked, "worker"), " are far beyond the ", most_workers,
                                 " that were measured."));
  }
  if (!shaped) {
    lines.push_back(
        "No run crossed a network of known bandwidth: the costs of messages and bytes are those "
        "of processes on one host.");
  } else if (basis.job.network.bytes_per_s > kFar * fastest) {
    lines.push_back(absl::StrCat(BandwidthText(basis.job.network.bytes_per_s * 8 / 1e6),
                                 " is far beyond the ", BandwidthText(fastest * 8 / 1e6),
                                 " that were measured: the cost of the processors decides there."));
  }
  if (static_cast<double>(basis.elements) > kFar * static_cast<double>(most_elements)) {
    lines.push_back(absl::StrCat(WholeNumber(basis.elements), " parameters are far beyond the ",
                                 WholeNumber(most_elements), " that were measured."));
  }
  if (!request.model.empty() && !request.compute_s.has_value()) {
    lines.push_back(absl::StrCat("How long ", request.model,
                                 " computes is not known: the time of the measured model is "
                                 "taken; --compute=DURATION gives another."));
  }
  if (model.residual_rms() > 0.1) {
    lines.push_back(absl::StrCat("The model is off by ", Percent(model.residual_rms(), 0),
                                 " (root mean square) where it was fitted."));
  }
  if (model.points() < 4) {
    lines.push_back(absl::StrCat("The model is fitted to ", Counted(model.points(), "setting"),
                                 ": most of its costs are what such machines usually take."));
  }
  return lines;
}

}  // namespace ringside
