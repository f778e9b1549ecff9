// What speed-up and efficiency are measured against. Pure.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_SCALING_BASELINE_H_
#define RINGSIDE_EXPERIMENTS_REPORT_SCALING_BASELINE_H_

#include <vector>

#include "results.pb.h"

namespace ringside {

// Fills in baseline, baseline_workers, speed_up and efficiency of all cells of one comparison, but
// for the oracle, which plays all ranks in one process, and cells without a rate.
//
// The baseline is one process that does not communicate: a ring (or direct) of one worker, else the
// oracle, at the same point, or at one that differs in how gradients travel alone. Where there is
// neither, it is the smallest number of workers of the same series at the same point.
void FillScaling(std::vector<Cell>& cells);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_SCALING_BASELINE_H_
