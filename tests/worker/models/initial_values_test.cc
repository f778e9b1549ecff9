#include "worker/models/initial_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace ringside {
namespace {

std::vector<float> Values(const ParameterSpec& spec, int index, int64_t seed) {
  std::vector<float> values(spec.elements(), 7);
  FillInitialValues(spec, index, seed, absl::MakeSpan(values));
  return values;
}

TEST(InitialValuesTest, WeightsAreUniformAndBiasesZero) {
  const double bound = std::sqrt(6.0 / 200);
  const std::vector<float> weights = Values({"w", {50, 8, 5, 5}, "float32"}, 0, 1);
  double sum = 0;
  double squares = 0;
  for (float value : weights) {
    EXPECT_LE(std::abs(value), bound);
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / weights.size(), 0, 0.01);
  EXPECT_NEAR(squares / weights.size(), bound * bound / 3, 0.001);
  EXPECT_EQ(Values({"b", {3}, "float32"}, 1, 1), std::vector<float>(3, 0));
}

TEST(InitialValuesTest, DependOnSeedAndPosition) {
  const ParameterSpec spec{"w", {4, 4}, "float32"};
  EXPECT_EQ(Values(spec, 0, 1), Values(spec, 0, 1));
  EXPECT_NE(Values(spec, 0, 1), Values(spec, 0, 2));
  EXPECT_NE(Values(spec, 0, 1), Values(spec, 1, 1));
}

}  // namespace
}  // namespace ringside
