#include "experiments/model/step_simulator.h"

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "experiments/model/event_simulation.h"
#include "experiments/model/rank_times.h"
#include "experiments/model/ring_simulation.h"

namespace ringside {
namespace {

// SplitMix64 (Steele, Lea and Flood 2014): the distributions of the standard library differ between
// platforms.
class Draws {
 public:
  explicit Draws(uint64_t seed) : state_(seed) {}

  // In (0, 1).
  double Uniform() {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t bits = state_;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    bits ^= bits >> 31;
    return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53;
  }

  // Box and Muller 1958.
  double Normal() {
    constexpr double kTwoPi = 6.283185307179586;
    const double radius = std::sqrt(-2 * std::log(Uniform()));
    return radius * std::cos(kTwoPi * Uniform());
  }

  double Exponential(double mean) { return -mean * std::log(Uniform()); }

 private:
  uint64_t state_;
};

std::vector<RankTimes> DrawTimes(const StepJob& job, const SimulationConfig& config,
                                 const std::vector<double>& starts, Draws* draws) {
  const ComputeTimes& compute = job.compute;
  const double mean = compute.before_backward_s + compute.backward_s + compute.after_s;
  std::vector<RankTimes> ranks;
  for (int rank = 0; rank < job.workers; ++rank) {
    double factor = 1;
    if (compute.spread_s > 0 && mean > 0) {
      factor = std::max(0.0, 1 + draws->Normal() * compute.spread_s / mean);
    }
    ranks.push_back({starts[rank], compute.before_backward_s * factor, compute.backward_s * factor,
                     compute.after_s * factor});
    const auto straggler = config.stragglers.find(rank);
    if (straggler != config.stragglers.end()) ranks.back().before_backward_s += straggler->second;
  }
  return ranks;
}

absl::Status Check(const StepJob& job, const SimulationConfig& config) {
  if (job.workers < 1 || (job.servers && job.shards < 1)) {
    return absl::InvalidArgumentError(absl::StrCat("a job of ", job.workers, " workers and ",
                                                   job.shards, " shards cannot be simulated"));
  }
  for (const auto& straggler : config.stragglers) {
    if (straggler.first >= 0 && straggler.first < job.workers) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("straggler ", straggler.first, " is no rank of ", job.workers, " workers"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<double>> SimulateSteps(const StepJob& job,
                                                  const SimulationConfig& config) {
  RINGSIDE_RETURN_IF_ERROR(Check(job, config));
  Draws draws(config.seed);
  std::vector<double> starts(job.workers, 0);
  std::vector<double> steps;
  for (int step = 0; step < config.steps; ++step) {
    const std::vector<RankTimes> ranks = DrawTimes(job, config, starts, &draws);
    std::vector<double> ends;
    if (!job.servers && !CoresAreShared(job)) {
      ends = SimulateRing(job, ranks);
    } else {
      RINGSIDE_ASSIGN_OR_RETURN(ends, SimulateEvents(job, ranks));
    }
    double slowest = 0;
    for (int rank = 0; rank < job.workers; ++rank) {
      slowest = std::max(slowest, ends[rank] - starts[rank]);
    }
    steps.push_back(slowest);
    // From zero again, so that times keep their digits.
    const double first = *std::min_element(ends.begin(), ends.end());
    for (int rank = 0; rank < job.workers; ++rank) starts[rank] = ends[rank] - first;
  }
  return steps;
}

double SimulateTraining(double work_s, const FailureConfig& config) {
  Draws draws(config.seed);
  double elapsed = 0;
  double failure = draws.Exponential(config.mtbf_s);  // from now
  // Passes the time of one undertaking; whether it ended before the next failure.
  const auto passes = [&](double seconds) {
    const bool well = failure > seconds;
    elapsed += well ? seconds : failure;
    failure = well ? failure - seconds : draws.Exponential(config.mtbf_s);
    return well;
  };
  while (work_s > 0) {
    const double work = std::min(work_s, config.interval_s);
    if (passes(work + config.checkpoint_s)) {
      work_s -= work;
    } else {
      while (!passes(config.restart_s)) {
      }
    }
  }
  return elapsed;
}

}  // namespace ringside
