#include "experiments/report/mean_test.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "experiments/report/statistics.h"

namespace ringside {
namespace {

// The continued fraction of the incomplete beta function, by Lentz's method (Press et al.,
// "Numerical Recipes", 3rd edition, section 6.4).
double BetaFraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr double kPrecision = 1e-15;
  constexpr int kMostTerms = 10'000;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int m = 1; m < kMostTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    fraction *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    fraction *= d * c;
    if (std::abs(d * c - 1) < kPrecision) break;
  }
  return fraction;
}

// Regularised: from 0 at x = 0 to 1 at x = 1.
double IncompleteBeta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double factor = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                 a * std::log(x) + b * std::log1p(-x));
  // The fraction converges fast on one side of the mean, and the function is symmetric.
  if (x < (a + 1) / (a + b + 2)) return factor * BetaFraction(a, b, x) / a;
  return 1 - factor * BetaFraction(b, a, 1 - x) / b;
}

// Of the mean: sample variance over the number of values.
double SquaredError(absl::Span<const double> values) {
  const double mean = Mean(values);
  const auto count = static_cast<double>(values.size());
  double squares = 0;
  for (double value : values) squares += (value - mean) * (value - mean);
  return squares / (count - 1) / count;
}

}  // namespace

double StudentTail(double t, double degrees) {
  const double tail = 0.5 * IncompleteBeta(degrees / 2, 0.5, degrees / (degrees + t * t));
  return t > 0 ? tail : 1 - tail;
}

double ProbabilityOfExcess(absl::Span<const double> a, absl::Span<const double> b, double shift) {
  if (a.size() < 2 || b.size() < 2) return 1;
  const double difference = Mean(a) - Mean(b) - shift;
  const double error_a = SquaredError(a);
  const double error_b = SquaredError(b);
  const double error = error_a + error_b;
  if (error <= 0) return difference > 0 ? 0 : 1;
  const double degrees = error * error /
                         (error_a * error_a / static_cast<double>(a.size() - 1) +
                          error_b * error_b / static_cast<double>(b.size() - 1));
  return StudentTail(difference / std::sqrt(error), degrees);
}

std::vector<bool> SignificantTogether(absl::Span<const double> probabilities, double level) {
  std::vector<size_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return probabilities[a] < probabilities[b]; });
  std::vector<bool> significant(probabilities.size(), false);
  for (size_t i = 0; i < order.size(); ++i) {
    if (probabilities[order[i]] > level / static_cast<double>(order.size() - i)) break;
    significant[order[i]] = true;
  }
  return significant;
}

}  // namespace ringside
