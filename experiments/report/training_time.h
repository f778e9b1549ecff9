// How long training took from its first step to its last, saving of checkpoints included. Pure.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_TRAINING_TIME_H_
#define RINGSIDE_EXPERIMENTS_REPORT_TRAINING_TIME_H_

#include "experiments/report/figure.h"
#include "experiments/report/table.h"
#include "results.pb.h"

namespace ringside {

// Of the slowest rank; 0 where no rank has told.
double TrainingSeconds(const RunResult& run);
// While that rank's training stood still for checkpoints; part of the above.
double SavingStallSeconds(const RunResult& run);

// A row for each cell that has a training time.
Table TrainingTimeTable(const ComparisonResult& comparison);
// Bars over the same cells, the stall apart.
Figure TrainingTimeFigure(const ComparisonResult& comparison);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_TRAINING_TIME_H_
