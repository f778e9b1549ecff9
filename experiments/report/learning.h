// Losses as curves, and when they reach a target. Pure functions.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_LEARNING_H_
#define RINGSIDE_EXPERIMENTS_REPORT_LEARNING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "experiments/report/series.h"
#include "results.pb.h"

namespace ringside {

struct LossPoint {
  int64_t step = 0;
  double time_s = 0;  // steps up to this one, without what lay between them
  double loss = 0;    // mean of the global batch
};

// Of every step of a run that has a finite loss. Empty where all losses are 0, as of a workload
// that trains nothing.
std::vector<LossPoint> LossCurve(const RunResult& run);

// Losses of single steps are noisy: a target counts as reached at the first step at which the mean
// of the last `window` losses is at or below it.
int64_t SmoothingWindow(int64_t steps);
absl::optional<LossPoint> FirstAtOrBelow(const std::vector<LossPoint>& curve, double target);

// The lowest loss, rounded up to two digits, that every one of the curves reaches; nothing where
// one of them is too short or none has a loss.
absl::optional<double> CommonTarget(const std::vector<std::vector<LossPoint>>& curves);

// The curves that a figure of a comparison shows: at the largest number of workers that most series
// share, of each series the first trial at its first point, and at others where it ended with other
// bits. Ordered as the series are.
struct ChosenCurve {
  const Cell* cell;
  const RunResult* run;
  std::string label;  // the series, with its point where it has several curves
  std::string series;
};
std::vector<ChosenCurve> ChosenCurves(const std::vector<Cell>& cells,
                                      const std::vector<RunResult>& runs, const SeriesNames& names);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_LEARNING_H_
