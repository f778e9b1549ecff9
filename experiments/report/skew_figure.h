// The skew of a comparison as figure. Pure.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_SKEW_FIGURE_H_
#define RINGSIDE_EXPERIMENTS_REPORT_SKEW_FIGURE_H_

#include "experiments/report/figure.h"
#include "results.pb.h"

namespace ringside {

// Own work and waiting of each rank, at the largest number of workers; who is chronically slow is
// marked. No bars where no cell has several worker processes.
Figure SkewFigure(const ComparisonResult& comparison);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_SKEW_FIGURE_H_
