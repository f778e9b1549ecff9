// Who kept the others waiting: when the ranks had their gradients ready, step by step. Pure
// functions.
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

// Slow in at least this share of the steps is chronic.
constexpr double kChronicShare = 0.5;

struct RankArrivals {
  int rank = 0;
  double own_work_s = 0;  // median, from the step's start to the arrival: no wait is in it
  double late_s = 0;      // median over all steps; negative: earlier than the others
  double last_share = 0;  // of the steps, in which it came last
  // The steps in which it was slow, ascending, by how much (median), and all of that together.
  std::vector<int64_t> slow_steps;
  double slow_by_s = 0;
  double slow_total_s = 0;
};

struct Arrivals {
  int64_t steps = 0;  // counted, with arrivals of at least two ranks; 0: nothing can be told
  // From the first rank to the last, of the last bucket and of the first: medians, and a p90.
  double spread_s = 0;
  double spread_p90_s = 0;
  double first_bucket_spread_s = 0;
  double clock_error_s = 0;         // by which two ranks' clocks may differ at most
  std::vector<RankArrivals> ranks;  // by rank
  int slowest = -1;                 // whose slow steps have cost most; -1: nobody was slow

  bool chronic() const;  // of the slowest
};

Arrivals ArrivalsOf(const RunResult& run);

// One line: "worker 2 kept the others waiting in 40 of 40 steps, by 50.1 ms (chronic): its own work
// takes 58.3 ms, the others' 8.20 ms"; or that it was nobody.
std::string DescribeArrivals(const Arrivals& arrivals);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_ARRIVALS_H_
