// Whether two small samples have different means: Welch's test, and what is left of it when many
// are made at once. Pure functions.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_MEAN_TEST_H_
#define RINGSIDE_EXPERIMENTS_REPORT_MEAN_TEST_H_

#include <vector>

#include "absl/types/span.h"

namespace ringside {

// P(T > t) of Student's distribution with `degrees` > 0 degrees of freedom, which need not be
// whole.
double StudentTail(double t, double degrees);

// The probability of a difference of means at least as large as that of these samples, where
// mean(a)
// - mean(b) is in truth `shift`: small where a's mean is significantly more than `shift` above b's.
// Of Welch's unequal variances t-test (Biometrika 34, 1947), one-sided. 1 where either sample has
// fewer than two values. Samples without any variation: 0 or 1.
double ProbabilityOfExcess(absl::Span<const double> a, absl::Span<const double> b, double shift);

// Which of several tests are significant if all of them together are to be wrong with a probability
// of at most `level` where nothing is true (Holm, Scandinavian Journal of Statistics 6, 1979).
std::vector<bool> SignificantTogether(absl::Span<const double> probabilities, double level);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_MEAN_TEST_H_
