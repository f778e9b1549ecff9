// How fast each series is along a setting that a sweep varies. Pure; drawing is gnuplot.h's.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_SENSITIVITY_FIGURE_H_
#define RINGSIDE_EXPERIMENTS_REPORT_SENSITIVITY_FIGURE_H_

#include <vector>

#include "experiments/report/figure.h"
#include "results.pb.h"

namespace ringside {

// For each setting that the comparison varies and each context of the others (curves.h), at most
// kMostContexts of them: the median step time of each series, with its interval. Numbers are drawn
// along an axis, logarithmic where they span more than a factor of 10, with the crossovers that the
// comparison has marked by a line, their intervals by a band; other values beside each other. Named
// "sensitivity_<setting>", further contexts "sensitivity_<setting>_2" and so on. The number of
// workers is drawn as a setting only where the comparison varies it by name.
std::vector<Figure> SensitivityFigures(const ComparisonResult& comparison);

constexpr int kMostContexts = 6;

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_SENSITIVITY_FIGURE_H_
