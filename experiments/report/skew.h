// Who made whom wait: each rank's own work against its waiting, and the ranks that are slow. Pure
// functions of step records.
//
// A synchronous exchange makes all ranks take as long as the slowest, so that step times cannot
// tell who it was. Own work can: making the batch, forward, backward and optimizer, without waits.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_SKEW_H_
#define RINGSIDE_EXPERIMENTS_REPORT_SKEW_H_

#include <cstdint>
#include <vector>

#include "results.pb.h"

namespace ringside {

// What a rank did itself in a step, in seconds.
double OwnWorkSeconds(const StepRecord& step);
// What it waited for others, or for its gradients to travel.
double WaitSeconds(const StepRecord& step);

// A rank is slow in a step where its own work takes this much longer than the median of the other
// ranks' in that step.
constexpr double kSlowShare = 0.10;
// It is chronically slow where it is so in more than half of the steps, and was slow once where it
// is not, but took this many times as long as that median in a step.
constexpr double kChronicSlowShare = 0.5;
constexpr double kOnceRatio = 2;

struct RankSkew {
  int rank = 0;
  int64_t steps = 0;
  double own_s = 0;        // mean
  double wait_s = 0;       // mean
  int64_t slow_steps = 0;  // in which it was slow
  double behind_s = 0;     // median of its own work minus the others' median
  bool chronic = false;
};

// A step in which a rank that is not chronically slow took far longer than the others.
struct SlowMoment {
  int64_t trial = 0;
  int64_t step = 0;
  int rank = 0;
  double own_s = 0;
  double others_s = 0;  // median of the other ranks' own work
};

struct Skew {
  std::vector<RankSkew> ranks;  // by rank
  int64_t steps = 0;            // compared, over all runs
  double median_spread_s = 0;   // of the steps: from the rank with least own work to that with most
  double p99_spread_s = 0;
  std::vector<SlowMoment> once;  // longest first
};

// Of the counted steps that all ranks of a run have recorded; `runs` are those of one cell. Empty
// (no ranks) where there are fewer than two worker processes.
Skew SkewOf(const std::vector<const RunResult*>& runs);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_SKEW_H_
