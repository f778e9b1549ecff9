#include "experiments/model/least_squares.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace ringside {
namespace {

using Matrix = std::vector<std::vector<double>>;

// Solves a x = b by elimination with pivots; a is positive definite. Zeros where it is not, to
// rounding.
std::vector<double> Solve(Matrix a, std::vector<double> b) {
  const size_t size = b.size();
  for (size_t column = 0; column < size; ++column) {
    size_t pivot = column;
    for (size_t row = column + 1; row < size; ++row) {
      if (std::abs(a[row][column]) > std::abs(a[pivot][column])) pivot = row;
    }
    if (a[pivot][column] == 0) return std::vector<double>(size, 0);
    std::swap(a[pivot], a[column]);
    std::swap(b[pivot], b[column]);
    for (size_t row = column + 1; row < size; ++row) {
      const double factor = a[row][column] / a[column][column];
      for (size_t i = column; i < size; ++i) a[row][i] -= factor * a[column][i];
      b[row] -= factor * b[column];
    }
  }
  std::vector<double> x(size, 0);
  for (size_t row = size; row-- > 0;) {
    double sum = b[row];
    for (size_t i = row + 1; i < size; ++i) sum -= a[row][i] * x[i];
    x[row] = sum / a[row][row];
  }
  return x;
}

// Derivatives of the residuals by each of x.
Matrix Derivatives(const Residuals& residuals, const std::vector<double>& x) {
  constexpr double kStep = 1e-4;
  Matrix columns;
  for (size_t i = 0; i < x.size(); ++i) {
    std::vector<double> above = x;
    std::vector<double> below = x;
    above[i] += kStep;
    below[i] -= kStep;
    std::vector<double> column = residuals(above);
    const std::vector<double> lower = residuals(below);
    for (size_t j = 0; j < column.size(); ++j) column[j] = (column[j] - lower[j]) / (2 * kStep);
    columns.push_back(std::move(column));
  }
  return columns;
}

double Product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

double SumOfSquares(const std::vector<double>& values) { return Product(values, values); }

double HuberResidual(double residual, double limit) {
  const double size = std::abs(residual);
  if (size <= limit) return residual;
  return std::copysign(std::sqrt(2 * limit * size - limit * limit), residual);
}

std::vector<double> MinimiseSquares(const Residuals& residuals, std::vector<double> start) {
  constexpr int kMostSteps = 200;
  constexpr double kMostDamping = 1e12;
  std::vector<double> x = std::move(start);
  std::vector<double> at_x = residuals(x);
  double cost = SumOfSquares(at_x);
  double damping = 1e-3;
  for (int step = 0; step < kMostSteps && damping < kMostDamping; ++step) {
    const Matrix columns = Derivatives(residuals, x);
    Matrix normal(x.size(), std::vector<double>(x.size(), 0));
    std::vector<double> right(x.size(), 0);
    for (size_t i = 0; i < x.size(); ++i) {
      right[i] = -Product(columns[i], at_x);
      for (size_t j = 0; j < x.size(); ++j) normal[i][j] = Product(columns[i], columns[j]);
    }
    bool better = false;
    while (!better && damping < kMostDamping) {
      Matrix damped = normal;
      for (size_t i = 0; i < x.size(); ++i) damped[i][i] += damping * (normal[i][i] + 1e-12);
      const std::vector<double> move = Solve(std::move(damped), right);
      std::vector<double> next = x;
      // A number changes at most by a factor of e at a time.
      for (size_t i = 0; i < x.size(); ++i) next[i] += std::max(-1.0, std::min(1.0, move[i]));
      std::vector<double> at_next = residuals(next);
      const double next_cost = SumOfSquares(at_next);
      better = next_cost < cost * (1 - 1e-10);
      if (!better) {
        damping *= 4;
        continue;
      }
      x = std::move(next);
      at_x = std::move(at_next);
      cost = next_cost;
      damping /= 3;
    }
  }
  return x;
}

}  // namespace ringside
