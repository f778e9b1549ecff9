// Small nonlinear least-squares problems. Pure and deterministic.
#ifndef RINGSIDE_EXPERIMENTS_MODEL_LEAST_SQUARES_H_
#define RINGSIDE_EXPERIMENTS_MODEL_LEAST_SQUARES_H_

#include <functional>
#include <vector>

namespace ringside {

using Residuals = std::function<std::vector<double>(const std::vector<double>& x)>;

double SumOfSquares(const std::vector<double>& values);

// A residual whose square is Huber's loss (1964): itself within `limit`, beyond it growing as a
// square root, so that outliers do not decide.
double HuberResidual(double residual, double limit);

// A local minimum of the sum of squares, from `start`, by the method of Levenberg (1944) and
// Marquardt (1963) with numeric derivatives. `residuals` returns the same number of finite values
// for every x.
std::vector<double> MinimiseSquares(const Residuals& residuals, std::vector<double> start);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MODEL_LEAST_SQUARES_H_
