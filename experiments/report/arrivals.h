// Who kept the others waiting in a run: when the ranks had their gradients ready, step by step. The
// only judge of who is slow, for a run's summary as for a report (skew.h). Pure functions.
//
// A rank arrives when it has submitted its last bucket; until all have, no synchronous strategy has
// the sum, so arrivals compare ps and ring alike. Arrival times are of the coordinator's clock
// (common/trace/clock_alignment.h). A rank is late by its arrival minus the median of the others'
// arrivals in the same step; it is *slow* in a step if it is late by more than 5 % of the run's
// median step, and by more than the clocks may be wrong. In asynchronous modes ranks are not in
// step: what is compared is their own work instead of their arrivals.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_ARRIVALS_H_
#define RINGSIDE_EXPERIMENTS_REPORT_ARRIVALS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "results.pb.h"

namespace ringside {

// What a rank did itself in a step, in seconds: making the batch, forward, backward, optimizer.
double OwnWorkSeconds(const StepRecord& step);

// Slow in at least this share of the steps that it took is chronic.
constexpr double kChronicShare = 0.5;

enum class Slowness { kNever, kOnce, kAtTimes, kChronic };

struct SlowStep {
  int64_t step = 0;
  double late_s = 0;
};

struct RankArrivals {
  int rank = 0;
  int64_t steps = 0;      // compared, that it took: in backup mode it may leave some out
  double own_work_s = 0;  // median: no wait is in it
  double late_s = 0;      // median over these steps; negative: earlier than the others
  double last_share = 0;  // of the run's steps, in which it came last
  // The steps in which it was slow, ascending, by how much (median), and all of that together.
  std::vector<SlowStep> slow_steps;
  double slow_by_s = 0;
  double slow_total_s = 0;

  Slowness slowness() const;
  // REQUIRES: there are slow steps. The one in which it was latest.
  const SlowStep& slowest_step() const;
};

struct Arrivals {
  int64_t steps = 0;    // counted, with arrivals of at least two ranks; 0: nothing can be told
  bool in_step = true;  // false: own work was compared, which no clock limits
  // From the first rank to the last, of the last bucket and of the first: medians, and a p90.
  double spread_s = 0;
  double spread_p90_s = 0;
  double first_bucket_spread_s = 0;
  double clock_error_s = 0;         // by which two ranks' clocks may differ at most
  double slow_above_s = 0;          // late by more than this is slow
  std::vector<RankArrivals> ranks;  // by rank
  int slowest = -1;                 // whose slow steps have cost most; -1: nobody was slow

  bool chronic() const;  // of the slowest
  // Lateness beyond 5 % of a step may go untold, because the clocks are not known well enough.
  bool limited_by_clocks() const;
};

Arrivals ArrivalsOf(const RunResult& run);

// One line: "worker 2 kept the others waiting in 40 of 40 steps, by 50.1 ms (chronic): its own work
// takes 58.3 ms, the others' 8.20 ms"; or that it was nobody, and how well the clocks are known
// where that decided it.
std::string DescribeArrivals(const Arrivals& arrivals);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_ARRIVALS_H_
