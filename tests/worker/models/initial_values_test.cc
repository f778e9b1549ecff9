#include "worker/models/initial_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace ringside {
namespace {

std::vector<float> Values(const ParameterSpec& spec, int index, int64_t seed) {
  std::vector<float> values(spec.elements(), 7);
  FillInitialValues(HeInitialValues(spec), index, seed, absl::MakeSpan(values));
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

TEST(InitialValuesTest, ScalesOfNormalisationsAreOne) {
  EXPECT_EQ(Values({"layer1.0.bn1.weight", {3}, "float32"}, 0, 1), std::vector<float>(3, 1));
  EXPECT_EQ(Values({"layer1.0.bn1.bias", {3}, "float32"}, 0, 1), std::vector<float>(3, 0));
}

TEST(InitialValuesTest, NormalValuesHaveTheirDeviation) {
  std::vector<float> values(100'000);
  FillInitialValues({InitialValues::Kind::kNormal, 0.02}, 3, 1, absl::MakeSpan(values));
  double sum = 0, squares = 0, fourth = 0;
  for (float value : values) {
    EXPECT_LE(std::abs(value), 3.5 * 0.02);
    const double unit = value / 0.02;
    sum += unit;
    squares += unit * unit;
    fourth += unit * unit * unit * unit;
  }
  EXPECT_NEAR(sum / 100'000, 0, 0.01);
  EXPECT_NEAR(squares / 100'000, 1, 0.01);
  EXPECT_NEAR(fourth / 100'000, 2.7, 0.05) << "3 - 6 / (5 * 4), of four uniform numbers";
}

// What they are on any machine; other values would make other runs of every recorded seed.
TEST(InitialValuesTest, NeverChange) {
  EXPECT_EQ(Values({"w", {2, 2}, "float32"}, 0, 1),
            (std::vector<float>{0x1.ca5ec4p-1f, 0x1.0649b8p-2f, 0x1.349c04p+0f, 0x1.5f15bep+0f}));
  std::vector<float> values(4);
  FillInitialValues({InitialValues::Kind::kNormal, 1}, 0, 1, absl::MakeSpan(values));
  EXPECT_EQ(values,
            (std::vector<float>{0x1.71938cp+0f, -0x1.64e924p-4f, 0x1.44af62p+0f, 0x1.9846ep-1f}));
}

TEST(InitialValuesTest, DependOnSeedAndPosition) {
  const ParameterSpec spec{"w", {4, 4}, "float32"};
  EXPECT_EQ(Values(spec, 0, 1), Values(spec, 0, 1));
  EXPECT_NE(Values(spec, 0, 1), Values(spec, 0, 2));
  EXPECT_NE(Values(spec, 0, 1), Values(spec, 1, 1));
}

}  // namespace
}  // namespace ringside
