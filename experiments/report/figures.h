// The figures of a report. Pure functions; drawing is gnuplot.h's.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_FIGURES_H_
#define RINGSIDE_EXPERIMENTS_REPORT_FIGURES_H_

#include <vector>

#include "experiments/report/figure.h"
#include "results.pb.h"

namespace ringside {

// Losses over steps with the strategies overlaid, at the largest number of workers that most of
// them share.
Figure LossFigure(const ComparisonResult& comparison);
// Samples/s by workers, with intervals. Of a sweep this and the next show one of its points.
Figure ThroughputFigure(const ComparisonResult& comparison);
// Efficiency by workers, without oracles.
Figure EfficiencyFigure(const ComparisonResult& comparison);

// Those of the above, of breakdown_figure.h and of sensitivity_figure.h that have something to
// show.
std::vector<Figure> Figures(const ComparisonResult& comparison);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_FIGURES_H_
