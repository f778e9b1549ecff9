#include "common/reduction.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "common/element_range.h"

namespace ringside {
namespace {

std::vector<float> RandomFloats(int64_t n, uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<float> exponent(-20, 20);
  std::vector<float> values(n);
  for (float& value : values) {
    value = std::ldexp(1.0f + exponent(generator) / 40, static_cast<int>(exponent(generator)));
    if (generator() % 2 == 0) value = -value;
  }
  return values;
}

TEST(AddTest, AddsElementWiseAlsoInPlace) {
  std::vector<float> a = {1, 2, 3, 4, 5};
  const std::vector<float> b = {10, 20, 30, 40, 50};
  Add(a, b, absl::MakeSpan(a));
  EXPECT_EQ(a, (std::vector<float>{11, 22, 33, 44, 55}));
}

TEST(FoldInLawOrderTest, EveryChunkStartsAtItsOwnRank) {
  // With these values any other order of addition gives other bits: big + tiny + -big.
  const std::vector<float> g0 = {1e8f, 1e8f, 1e8f};
  const std::vector<float> g1 = {3, 3, 3};
  const std::vector<float> g2 = {-1e8f, -1e8f, -1e8f};
  std::vector<float> out(3);
  FoldInLawOrder({g0, g1, g2}, absl::MakeSpan(out));
  EXPECT_EQ(out[0], (1e8f + 3) + -1e8f);
  EXPECT_EQ(out[1], (3 + -1e8f) + 1e8f);
  EXPECT_EQ(out[2], (-1e8f + 1e8f) + 3);
  EXPECT_NE(out[0], out[2]);
}

TEST(FoldInLawOrderTest, MatchesAnElementByElementFold) {
  for (int ranks = 1; ranks <= 5; ++ranks) {
    const int64_t n = 1003;
    std::vector<std::vector<float>> gradients;
    std::vector<absl::Span<const float>> views;
    for (int r = 0; r < ranks; ++r) gradients.push_back(RandomFloats(n, r));
    for (const auto& g : gradients) views.emplace_back(g);
    std::vector<float> out(n);
    FoldInLawOrder(views, absl::MakeSpan(out));
    for (int c = 0; c < ranks; ++c) {
      const ElementRange chunk = Part({0, n}, ranks, c);
      for (int64_t i = chunk.begin; i < chunk.end(); ++i) {
        float sum = gradients[c][i];
        for (int k = 1; k < ranks; ++k) sum += gradients[(c + k) % ranks][i];
        ASSERT_EQ(std::memcmp(&sum, &out[i], 4), 0) << ranks << " ranks, element " << i;
      }
    }
  }
}

TEST(FoldInLawOrderTest, NegativeZeroIsKept) {
  const std::vector<float> minus_zero = {-0.0f, -0.0f};
  std::vector<float> out(2);
  FoldInLawOrder({minus_zero, minus_zero}, absl::MakeSpan(out));
  EXPECT_TRUE(std::signbit(out[0]));
  EXPECT_TRUE(std::signbit(out[1]));
}

}  // namespace
}  // namespace ringside
