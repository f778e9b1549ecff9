// Figures and tables of how training went: losses, time to a target, staleness. Pure.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_LEARNING_FIGURES_H_
#define RINGSIDE_EXPERIMENTS_REPORT_LEARNING_FIGURES_H_

#include "experiments/report/figure.h"
#include "experiments/report/table.h"
#include "results.pb.h"

namespace ringside {

// Losses over steps, and over the time that the steps took, with the series overlaid.
Figure LossFigure(const ComparisonResult& comparison);
Figure LossOverTimeFigure(const ComparisonResult& comparison);

// Shares of the units pushed, by the number of updates that they had missed; without data where no
// run has a staleness.
Figure StalenessFigure(const ComparisonResult& comparison);

// Steps and seconds until the loss that all cells reach; no rows where there is none.
Table TargetTable(const ComparisonResult& comparison);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_LEARNING_FIGURES_H_
