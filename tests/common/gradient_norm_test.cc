#include "common/gradient_norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace ringside {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> Random(size_t elements, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(elements);
  for (float& value : values) value = normal(random);
  return values;
}

// The order as the header tells it.
double Oracle(const std::vector<float>& values) {
  std::vector<double> partial(16, 0.0);
  for (size_t i = 0; i < values.size(); ++i) {
    partial[i % 16] += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  }
  while (partial.size() > 1) {
    const size_t half = partial.size() / 2;
    for (size_t k = 0; k < half; ++k) partial[k] += partial[k + half];
    partial.resize(half);
  }
  return partial[0];
}

TEST(GradientNormTest, SumsInTheOrderThatIsWrittenDown) {
  for (size_t elements = 0; elements <= 100; ++elements) {
    const std::vector<float> values = Random(elements, 3);
    EXPECT_EQ(SumOfSquares(values), Oracle(values)) << elements;
  }
  const std::vector<float> values = Random(100'003, 4);
  EXPECT_EQ(SumOfSquares(values), Oracle(values));
}

TEST(GradientNormTest, IsFiniteExactlyWhereAllValuesAre) {
  std::vector<float> values(1000, std::numeric_limits<float>::max());
  EXPECT_TRUE(std::isfinite(SumOfSquares(values)));
  EXPECT_TRUE(std::isfinite(SumOfSquares({})));
  for (float bad : {kNan, -kNan, kInfinity, -kInfinity}) {
    for (size_t at : {0, 15, 16, 500, 991, 992, 999}) {
      const float before = values[at];
      values[at] = bad;
      EXPECT_FALSE(std::isfinite(SumOfSquares(values))) << bad << " at " << at;
      values[at] = before;
    }
  }
}

TEST(GradientNormTest, FindsTheFirstAndCountsAll) {
  EXPECT_EQ(FindNonFinite(std::vector<float>{1, 2, 3}).count, 0);
  EXPECT_EQ(FindNonFinite({}).first, -1);
  const NonFinite found = FindNonFinite(std::vector<float>{1, -kInfinity, 3, kNan, kInfinity});
  EXPECT_EQ(found.first, 1);
  EXPECT_EQ(found.count, 3);
}

TEST(GradientNormTest, ScalesInPlaceToo) {
  std::vector<float> values = {1, -2, 3};
  std::vector<float> out(3);
  Scale(0.5f, values, absl::MakeSpan(out));
  EXPECT_EQ(out, (std::vector<float>{0.5f, -1, 1.5f}));
  Scale(2, values, absl::MakeSpan(values));
  EXPECT_EQ(values, (std::vector<float>{2, -4, 6}));
  Scale(2, {}, {});
}

}  // namespace
}  // namespace ringside
