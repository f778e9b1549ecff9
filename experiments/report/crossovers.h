// Where the faster of two series changes along a varied setting. Pure functions.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_CROSSOVERS_H_
#define RINGSIDE_EXPERIMENTS_REPORT_CROSSOVERS_H_

#include <string>
#include <vector>

#include "experiments/report/curves.h"
#include "experiments/report/statistics.h"
#include "results.pb.h"

namespace ringside {

// One measured place of two series along an axis.
struct CrossoverSample {
  double at = 0;  // ascending
  Trials first;   // step times of the one
  Trials second;  // and of the other
};

struct CrossoverEstimate {
  bool first_is_faster_below = false;
  double below = 0;  // measured places between which it lies
  double above = 0;
  bool interpolated = false;  // else low and high of `value` are `below` and `above`
  IntervalEstimate value;
};

// With r(x) = median step of the first over that of the second, which is 1 where they cross: ln r
// is taken to be linear in ln x (in x where any of the places is not above 0) between neighbouring
// places. A crossover is where r is significantly below 1 at one place and significantly above 1 at
// a later one, or the other way round, with no significant difference in between. Where the two are
// neighbours it is interpolated, with a bootstrap interval over the trials of all four samples (a
// resample without a change counts as the end that is nearer); otherwise it lies between the two,
// and `median` is where ln r, interpolated, changes its sign. Significance as of a Contrast.
std::vector<CrossoverEstimate> FindCrossovers(const std::vector<CrossoverSample>& samples);

// Of every parameter server against every other contender, along each axis, in each setting of the
// others that varies (curves.h). A single worker is no place along the number of workers, because a
// ring of one sends nothing.
std::vector<Crossover> BuildCrossovers(const std::vector<Cell>& cells,
                                       const std::vector<RunResult>& runs);

// "Crossover along network bandwidth, 4 workers: ring is faster below 340 Mbit/s, ps above (95 %
// interval 310 Mbit/s to 390 Mbit/s; measured at 200 Mbit/s and 500 Mbit/s)"
std::string CrossoverText(const Crossover& crossover);
// A number of it with its unit: "340 Mbit/s".
std::string CrossoverNumber(const Crossover& crossover, double number);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_CROSSOVERS_H_
