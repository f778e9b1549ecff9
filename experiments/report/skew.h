// The arrivals of all runs of a cell together, with each rank's own work and waiting beside them.
// Who is slow, arrivals.h alone decides, run by run; here is what most trials say. Pure functions.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_SKEW_H_
#define RINGSIDE_EXPERIMENTS_REPORT_SKEW_H_

#include <cstdint>
#include <vector>

#include "experiments/report/arrivals.h"
#include "results.pb.h"

namespace ringside {

struct RankSkew {
  int rank = 0;
  double own_s = 0;   // mean over counted steps
  double wait_s = 0;  // mean of exposed communication: for others, or for gradients to travel
  // Of all trials with arrivals.
  int64_t steps = 0;
  int64_t slow_steps = 0;
  double slow_by_s = 0;    // median of all its slow steps
  int chronic_trials = 0;  // in which it was chronically slow
  bool chronic = false;    // in more than half of the trials with arrivals
};

// A rank that is not chronically slow by most trials, but was slow in this one.
struct SlowSpell {
  int64_t trial = 0;
  RankArrivals rank;
};

struct Skew {
  std::vector<RankSkew> ranks;  // by rank
  int trials = 0;               // with arrivals; 0: they were not recorded
  int64_t steps = 0;            // compared, over these trials
  bool in_step = true;          // false: own work was compared, spreads are those of own work
  // Medians over the trials of their median first-to-last times and of their p90.
  double first_bucket_spread_s = 0;
  double spread_s = 0;
  double spread_p90_s = 0;
  double clock_error_s = 0;        // by which two ranks' clocks may differ at most, in any trial
  bool limited_by_clocks = false;  // in any trial
  std::vector<SlowSpell> spells;   // those that cost most first

  bool recorded() const { return trials > 0; }
};

// `runs` are those of one cell. No ranks where fewer than two worker processes have counted steps.
Skew SkewOf(const std::vector<const RunResult*>& runs);

// Median over the ranks but this one of their own work.
double OthersOwnSeconds(const Skew& skew, int rank);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_SKEW_H_
