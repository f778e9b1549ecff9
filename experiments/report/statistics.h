// The statistics of a comparison. Pure functions; docs/metrics.md says in words what each of them
// means.
//
// Step times of one run are not independent of each other (one slow second slows many steps in a
// row), so intervals come from a two-level bootstrap: trials are drawn with replacement, then steps
// within each drawn trial (Davison & Hinkley, "Bootstrap Methods and their Application", 1997,
// section 3.8). With few trials such an interval is too narrow: two trials tell little about a
// third. Draws come from a generator with a fixed seed, so that the same runs give the same report.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_STATISTICS_H_
#define RINGSIDE_EXPERIMENTS_REPORT_STATISTICS_H_

#include <functional>
#include <vector>

#include "absl/types/span.h"

namespace ringside {

// Unsorted values; 0 for none. With h = fraction * (n - 1), interpolates linearly between the
// sorted values at floor(h) and floor(h) + 1, counted from 0 (type 7 of Hyndman & Fan, The American
// Statistician 50, 1996). `fraction` is in [0, 1].
double Percentile(std::vector<double> values, double fraction);
double Median(std::vector<double> values);
double Mean(absl::Span<const double> values);

// Median of the absolute distances to the median, unscaled. 0 for none.
double MedianAbsoluteDeviation(const std::vector<double>& values);

// Sample standard deviation (n - 1) over the mean. 0 for fewer than two values or a mean of 0.
double CoefficientOfVariation(absl::Span<const double> values);

// One vector of samples per trial.
using Trials = std::vector<std::vector<double>>;
std::vector<double> Pooled(const Trials& trials);

struct IntervalEstimate {
  double low = 0;
  double median = 0;
  double high = 0;
};

constexpr int kBootstrapResamples = 2000;
constexpr double kConfidence = 0.95;

// Median of the pooled samples with its percentile interval: the middle kConfidence of the medians
// of kBootstrapResamples resamples. All zeros without samples.
IntervalEstimate MedianInterval(const Trials& trials);

// Median of `numerator` over median of `denominator`, each resampled on its own. All zeros where
// either has no samples.
IntervalEstimate MedianRatioInterval(const Trials& numerator, const Trials& denominator);

// What `function` makes of the medians of several samples, each resampled on its own: `median` is
// its value for the medians as measured. All zeros where any of them has no samples.
IntervalEstimate MedianFunctionInterval(
    const std::vector<Trials>& samples,
    const std::function<double(absl::Span<const double>)>& function);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_STATISTICS_H_
