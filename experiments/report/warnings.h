// What a reader must know before believing a number. Pure functions.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_WARNINGS_H_
#define RINGSIDE_EXPERIMENTS_REPORT_WARNINGS_H_

#include <string>
#include <vector>

#include "experiments/report/point.h"
#include "results.pb.h"

namespace ringside {

// Trials of a cell that vary by more than this are called noisy.
constexpr double kNoisyCv = 0.05;
// With fewer trials an interval is narrower than it claims to be.
constexpr int kFewTrials = 5;

// One line each: oversubscribed cores, a single host, noisy cells, few trials, nothing left after
// the warm-up or none at all, what a sweep has not run everywhere, steps that were skipped for a
// gradient that is not finite, congestion control that differs or slows loopback, parameter servers
// of several modes or of one that does not do the work of a synchronous step, a build that is not
// optimised.
std::vector<std::string> BuildWarnings(const std::vector<RunResult>& runs,
                                       const std::vector<Cell>& cells,
                                       const PointSpace& space = {});

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_WARNINGS_H_
