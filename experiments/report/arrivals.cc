#include "experiments/report/arrivals.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "absl/strings/str_cat.h"
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

Steps CountedArrivals(const RunResult& run) {
  const bool together = !PolicyOf(run).is_asynchronous();
  Steps steps;
  for (int place = 0; place < run.worker_results_size(); ++place) {
    const WorkerResult& worker = run.worker_results(place);
    const auto seconds = [&worker](int64_t own_ns) {
      return static_cast<double>(CoordinatorTime(worker.clock(), own_ns)) / 1e9;
    };
    for (const StepRecord& record : worker.steps()) {
      if (record.step() <= run.warmup_steps() || record.ready_at_ns() == 0) continue;
      Arrival arrival{static_cast<size_t>(place), record.ready_s(), record.ready_s(),
                      record.ready_s()};
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
      (*ranks)[arrival.place].slow_steps.push_back(step);
    }
  }
}

}  // namespace

bool Arrivals::chronic() const {
  const auto rank = std::find_if(ranks.begin(), ranks.end(),
                                 [this](const RankArrivals& one) { return one.rank == slowest; });
  return rank != ranks.end() &&
         static_cast<double>(rank->slow_steps.size()) >= kChronicShare * static_cast<double>(steps);
}

Arrivals ArrivalsOf(const RunResult& run) {
  const Steps steps = CountedArrivals(run);
  Arrivals result;
  result.steps = static_cast<int64_t>(steps.size());
  if (steps.empty()) return result;
  result.clock_error_s = ClockError(run);
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
  Collect(steps, std::max(kSlowShareOfStep * MedianStep(run), result.clock_error_s), &collected,
          &result.ranks);
  double worst = 0;
  for (size_t place = 0; place < places; ++place) {
    RankArrivals& rank = result.ranks[place];
    rank.rank = run.worker_results(static_cast<int>(place)).rank();
    rank.own_work_s = Median(collected[place].own_work);
    rank.late_s = Median(collected[place].late);
    rank.last_share =
        static_cast<double>(collected[place].last) / static_cast<double>(result.steps);
    rank.slow_by_s = Median(collected[place].slow_by);
    for (double late : collected[place].slow_by) rank.slow_total_s += late;
    if (rank.slow_total_s <= worst) continue;
    worst = rank.slow_total_s;
    result.slowest = rank.rank;
  }
  return result;
}

std::string DescribeArrivals(const Arrivals& arrivals) {
  if (arrivals.steps == 0) return "no arrivals of several ranks were recorded";
  if (arrivals.slowest < 0) {
    return absl::StrCat("no rank kept the others waiting: from first to last ",
                        Seconds(arrivals.spread_s), " (median of ", Counted(arrivals.steps, "step"),
                        ")");
  }
  std::vector<double> others;
  RankArrivals slow;
  for (const RankArrivals& rank : arrivals.ranks) {
    if (rank.rank == arrivals.slowest) {
      slow = rank;
    } else {
      others.push_back(rank.own_work_s);
    }
  }
  const size_t count = slow.slow_steps.size();
  const std::string how = arrivals.chronic() ? "chronic"
                          : count == 1
                              ? absl::StrCat("once, step ", slow.slow_steps.front())
                              : absl::StrCat("at times, first in step ", slow.slow_steps.front());
  return absl::StrCat("worker ", slow.rank, " kept the others waiting in ", count, " of ",
                      Counted(arrivals.steps, "step"), ", by ", Seconds(slow.slow_by_s), " (", how,
                      "): its own work takes ", Seconds(slow.own_work_s), ", the others' ",
                      Seconds(Median(others)));
}

}  // namespace ringside
