#include "experiments/model/least_squares.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ringside {
namespace {

TEST(LeastSquaresTest, SolvesALinearProblem) {
  // y = 3 + 2 t, exactly.
  const auto residuals = [](const std::vector<double>& x) {
    std::vector<double> all;
    for (double t : {0.0, 1.0, 2.0, 5.0}) all.push_back(x[0] + x[1] * t - (3 + 2 * t));
    return all;
  };
  const std::vector<double> x = MinimiseSquares(residuals, {0, 0});
  EXPECT_NEAR(x[0], 3, 1e-6);
  EXPECT_NEAR(x[1], 2, 1e-6);
}

// Rosenbrock 1960: a curved valley.
TEST(LeastSquaresTest, FollowsAValley) {
  const auto residuals = [](const std::vector<double>& x) {
    return std::vector<double>{10 * (x[1] - x[0] * x[0]), 1 - x[0]};
  };
  const std::vector<double> x = MinimiseSquares(residuals, {-1.2, 1});
  EXPECT_NEAR(x[0], 1, 1e-4);
  EXPECT_NEAR(x[1], 1, 1e-4);
}

TEST(LeastSquaresTest, LeavesAloneWhatDoesNotMatter) {
  const auto residuals = [](const std::vector<double>& x) { return std::vector<double>{x[0] - 1}; };
  const std::vector<double> x = MinimiseSquares(residuals, {0, 7});
  EXPECT_NEAR(x[0], 1, 1e-6);
  EXPECT_DOUBLE_EQ(x[1], 7);
}

TEST(LeastSquaresTest, HubersLossGrowsLinearlyFarOut) {
  EXPECT_EQ(HuberResidual(0.5, 1), 0.5);
  EXPECT_EQ(HuberResidual(-1, 1), -1);
  EXPECT_NEAR(std::pow(HuberResidual(-5, 1), 2), 2 * 5 - 1, 1e-12);
  EXPECT_LT(HuberResidual(-5, 1), 0);
}

}  // namespace
}  // namespace ringside
