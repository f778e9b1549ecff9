// The figures of a report. Pure functions; drawing is gnuplot.h's.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_FIGURES_H_
#define RINGSIDE_EXPERIMENTS_REPORT_FIGURES_H_

#include <vector>

#include "experiments/report/figure.h"
#include "results.pb.h"

namespace ringside {

// Samples/s by workers, with intervals. Of a sweep this and the next show one of its points.
Figure ThroughputFigure(const ComparisonResult& comparison);
// Efficiency by workers, at the same point, without oracles.
Figure EfficiencyFigure(const ComparisonResult& comparison);

// All figures of a report that have something to show, these and those of other files.
std::vector<Figure> Figures(const ComparisonResult& comparison);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_FIGURES_H_
