// One cell of the comparison: all runs of a strategy at one number of workers and one point of a
// sweep (of shards, and over one transport and placement of a parameter server). Pure functions;
// docs/metrics.md defines every number.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_CELLS_H_
#define RINGSIDE_EXPERIMENTS_REPORT_CELLS_H_

#include <vector>

#include "experiments/report/point.h"
#include "experiments/report/statistics.h"
#include "results.pb.h"

namespace ringside {

// By number of workers, then point, then strategy as StrategyLess orders them, then shards,
// transport and placement.
std::vector<Cell> BuildCells(const std::vector<RunResult>& runs, const PointSpace& space = {});

// The runs that make up a cell, by trial.
std::vector<const RunResult*> RunsOf(const Cell& cell, const std::vector<RunResult>& runs);

// Step times of the counted steps, one vector per run.
Trials StepTimes(const std::vector<const RunResult*>& runs);

Interval ToProto(const IntervalEstimate& estimate);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_CELLS_H_
