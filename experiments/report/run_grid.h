// Which runs a comparison should have, by those that it has. Pure.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_RUN_GRID_H_
#define RINGSIDE_EXPERIMENTS_REPORT_RUN_GRID_H_

#include <string>
#include <vector>

#include "experiments/report/point.h"
#include "results.pb.h"

namespace ringside {

// Strategies that were not run at a number of workers and a point at which others were (an oracle
// may be at any point), and contenders that were run less often than others. Rings count by the
// schedule that was asked for: with --schedule=auto some may have come out as direct and others as
// ring. A sweep may leave gaps on purpose.
std::vector<std::string> GridGaps(const std::vector<RunResult>& runs, const PointSpace& space);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_RUN_GRID_H_
