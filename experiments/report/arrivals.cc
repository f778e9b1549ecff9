#include "experiments/report/arrivals.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/trace/clock_alignment.h"
#include "experiments/report/number_text.h"
#include "experiments/report/run_samples.h"
#include "experiments/report/server_mode.h"
#include "experiments/report/statistics.h"

namespace ringside {
namespace {

constexpr double kSlowShareOfStep = 0.05;

struct Arrival {
  size_t place = 0;  // of the rank, in RunResult.worker_results
  double first_s = 0;
  double last_s = 0;
  double own_work_s = 0;
};

using Steps = std::map<int64_t, std::vector<Arrival>>;

// `together`: ranks are in step; else their own work stands for their arrivals.
Steps CountedArrivals(const RunResult& run, bool together) {
  Steps steps;
  for (int place = 0; place < run.worker_results_size(); ++place) {
    const WorkerResult& worker = run.worker_results(place);
    const auto seconds = [&worker](int64_t own_ns) {
      return static_cast<double>(CoordinatorTime(worker.clock(), own_ns)) / 1e9;
    };
    for (const StepRecord& record : worker.steps()) {
      if (record.step() <= run.warmup_steps()) continue;
      if (together && record.ready_at_ns() == 0) continue;  // not recorded
      const double own_work_s = OwnWorkSeconds(record);
      Arrival arrival{static_cast<size_t>(place), own_work_s, own_work_s, own_work_s};
      if (together) {
        arrival.first_s = seconds(record.first_ready_at_ns());
        arrival.last_s = seconds(record.ready_at_ns());
      }
      steps[record.step()].push_back(arrival);
    }
  }
  for (auto step = steps.begin(); step != steps.end();) {
    step = step->second.size() < 2 ? steps.erase(step) : std::next(step);
  }
  return steps;
}

double Spread(const std::vector<Arrival>& arrivals, double Arrival::*moment) {
  const auto earlier = [moment](const Arrival& a, const Arrival& b) {
    return a.*moment < b.*moment;
  };
  const auto ends = std::minmax_element(arrivals.begin(), arrivals.end(), earlier);
  return (*ends.second).*moment - (*ends.first).*moment;
}

double MedianOfOthers(const std::vector<Arrival>& arrivals, const Arrival& one) {
  std::vector<double> others;
  for (const Arrival& other : arrivals) {
    if (other.place != one.place) others.push_back(other.last_s);
  }
  return Median(others);
}

// What the clocks of two processes may be wrong by against each other.
double ClockError(const RunResult& run) {
  int64_t largest = 0;
  int64_t second = 0;
  for (const WorkerResult& worker : run.worker_results()) {
    const int64_t error = ErrorBoundNs(worker.clock());
    second = std::max(second, std::min(largest, error));
    largest = std::max(largest, error);
  }
  return static_cast<double>(largest + second) / 1e9;
}

double MedianStep(const RunResult& run) {
  std::vector<double> times;
  for (const StepSample& step : CountedSteps(run)) times.push_back(step.step_s);
  return Median(times);
}

// What is collected of one rank, step by step.
struct Collected {
  std::vector<double> own_work;
  std::vector<double> late;
  std::vector<double> slow_by;
  int64_t last = 0;
};

void Collect(const Steps& steps, double slow_above_s, std::vector<Collected>* collected,
             std::vector<RankArrivals>* ranks) {
  for (const auto& [step, arrivals] : steps) {
    const auto last =
        std::max_element(arrivals.begin(), arrivals.end(),
                         [](const Arrival& a, const Arrival& b) { return a.last_s < b.last_s; });
    ++(*collected)[last->place].last;
    for (const Arrival& arrival : arrivals) {
      Collected& own = (*collected)[arrival.place];
      own.own_work.push_back(arrival.own_work_s);
      own.late.push_back(arrival.last_s - MedianOfOthers(arrivals, arrival));
      if (own.late.back() <= slow_above_s) continue;
      own.slow_by.push_back(own.late.back());
      (*ranks)[arrival.place].slow_steps.push_back({step, own.late.back()});
    }
  }
}

void Finish(const Collected& collected, int64_t steps, RankArrivals* rank) {
  rank->steps = static_cast<int64_t>(collected.late.size());
  rank->own_work_s = Median(collected.own_work);
  rank->late_s = Median(collected.late);
  rank->last_share = static_cast<double>(collected.last) / static_cast<double>(steps);
  rank->slow_by_s = Median(collected.slow_by);
  for (const double late : collected.slow_by) rank->slow_total_s += late;
}

std::string HowOften(const RankArrivals& slow) {
  switch (slow.slowness()) {
    case Slowness::kChronic:
      return "chronic";
    case Slowness::kOnce:
      return absl::StrCat("once, step ", slow.slow_steps.front().step);
    case Slowness::kAtTimes:
      return absl::StrCat("at times, first in step ", slow.slow_steps.front().step);
    case Slowness::kNever:
      break;
  }
  return "never";
}

std::string DescribeNobody(const Arrivals& arrivals) {
  const std::string clocks =
      arrivals.limited_by_clocks()
          ? absl::StrCat("; clocks may differ by ", Seconds(arrivals.clock_error_s),
                         ", so that less cannot be told")
          : "";
  return absl::StrCat(
      arrivals.in_step ? "no rank kept the others waiting: from first to last "
                       : "no rank worked longer than the others: from least to most ",
      Seconds(arrivals.spread_s), " (median of ", Counted(arrivals.steps, "step"), clocks, ")");
}

}  // namespace

double OwnWorkSeconds(const StepRecord& step) {
  return step.data_s() + step.forward_s() + step.backward_s() + step.optimizer_s();
}

Slowness RankArrivals::slowness() const {
  if (slow_steps.empty()) return Slowness::kNever;
  const auto slow = static_cast<double>(slow_steps.size());
  if (slow >= kChronicShare * static_cast<double>(steps)) return Slowness::kChronic;
  return slow_steps.size() == 1 ? Slowness::kOnce : Slowness::kAtTimes;
}

const SlowStep& RankArrivals::slowest_step() const {
  RINGSIDE_CHECK(!slow_steps.empty());
  return *std::max_element(slow_steps.begin(), slow_steps.end(),
                           [](const auto& a, const auto& b) { return a.late_s < b.late_s; });
}

bool Arrivals::chronic() const {
  const auto rank = std::find_if(ranks.begin(), ranks.end(),
                                 [this](const RankArrivals& one) { return one.rank == slowest; });
  return rank != ranks.end() && rank->slowness() == Slowness::kChronic;
}

bool Arrivals::limited_by_clocks() const {
  return clock_error_s > 0 && clock_error_s >= slow_above_s;
}

Arrivals ArrivalsOf(const RunResult& run) {
  Arrivals result;
  result.in_step = !PolicyOf(run).is_asynchronous();
  const Steps steps = CountedArrivals(run, result.in_step);
  result.steps = static_cast<int64_t>(steps.size());
  if (steps.empty()) return result;
  // Own work is a length of time within one process.
  if (result.in_step) result.clock_error_s = ClockError(run);
  result.slow_above_s = std::max(kSlowShareOfStep * MedianStep(run), result.clock_error_s);
  std::vector<double> spreads;
  std::vector<double> first_spreads;
  for (const auto& [step, arrivals] : steps) {
    spreads.push_back(Spread(arrivals, &Arrival::last_s));
    first_spreads.push_back(Spread(arrivals, &Arrival::first_s));
  }
  result.spread_s = Median(spreads);
  result.spread_p90_s = Percentile(spreads, 0.9);
  result.first_bucket_spread_s = Median(first_spreads);
  const auto places = static_cast<size_t>(run.worker_results_size());
  std::vector<Collected> collected(places);
  result.ranks.resize(places);
  Collect(steps, result.slow_above_s, &collected, &result.ranks);
  double worst = 0;
  for (size_t place = 0; place < places; ++place) {
    RankArrivals& rank = result.ranks[place];
    rank.rank = run.worker_results(static_cast<int>(place)).rank();
    Finish(collected[place], result.steps, &rank);
    if (rank.slow_total_s <= worst) continue;
    worst = rank.slow_total_s;
    result.slowest = rank.rank;
  }
  return result;
}

std::string DescribeArrivals(const Arrivals& arrivals) {
  if (arrivals.steps == 0) return "no arrivals of several ranks were recorded";
  if (arrivals.slowest < 0) return DescribeNobody(arrivals);
  std::vector<double> others;
  RankArrivals slow;
  for (const RankArrivals& rank : arrivals.ranks) {
    if (rank.rank == arrivals.slowest) {
      slow = rank;
    } else if (rank.steps > 0) {
      others.push_back(rank.own_work_s);
    }
  }
  return absl::StrCat(
      "worker ", slow.rank,
      arrivals.in_step ? " kept the others waiting in " : " worked longer than the others in ",
      slow.slow_steps.size(), " of ", Counted(slow.steps, "step"), ", by ", Seconds(slow.slow_by_s),
      " (", HowOften(slow), "): its own work takes ", Seconds(slow.own_work_s), ", the others' ",
      Seconds(Median(others)));
}

}  // namespace ringside
