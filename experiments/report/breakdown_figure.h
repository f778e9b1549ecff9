// Where the mean step of every cell goes, as a figure. Pure function; drawing is gnuplot.h's.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_BREAKDOWN_FIGURE_H_
#define RINGSIDE_EXPERIMENTS_REPORT_BREAKDOWN_FIGURE_H_

#include "experiments/report/figure.h"
#include "results.pb.h"

namespace ringside {

// A bar for each cell with counted steps, cut into the parts of its mean step. Hidden communication
// is a strip along the end of the backward pass, behind which it goes on.
Figure BreakdownFigure(const ComparisonResult& comparison);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_BREAKDOWN_FIGURE_H_
