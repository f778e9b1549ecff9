#include "common/reduction.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "common/element_range.h"
#include "common/half_precision.h"

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

std::vector<const float*> Pointers(const std::vector<std::vector<float>>& vectors) {
  std::vector<const float*> pointers;
  for (const std::vector<float>& vector : vectors) pointers.push_back(vector.data());
  return pointers;
}

std::vector<std::vector<float>> RandomVectors(int count, int64_t n) {
  std::vector<std::vector<float>> vectors;
  for (int k = 0; k < count; ++k) vectors.push_back(RandomFloats(n, k));
  return vectors;
}

bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

// As the wire would give it back.
float Rounded(WireDtype dtype, float value) {
  std::array<uint8_t, 2> wire;
  EncodeWire(dtype, {&value, 1}, absl::MakeSpan(wire));
  DecodeWire(dtype, wire, {&value, 1});
  return value;
}

TEST(FoldTest, AddsAnyNumberOfTermsFromTheLeftIntoAnyOfThem) {
  const int64_t n = 2500;  // more than two blocks, where terms are many
  for (int count : {1, 2, 3, 7, 8, 9, 15, 16, 17, 40}) {
    const std::vector<std::vector<float>> values = RandomVectors(count, n);
    std::vector<float> expected = values[0];
    for (int k = 1; k < count; ++k) {
      for (int64_t i = 0; i < n; ++i) expected[i] += values[k][i];
    }
    std::vector<float> out(n);
    Fold(Pointers(values), absl::MakeSpan(out));
    ASSERT_TRUE(SameBits(out, expected)) << count << " terms";
    for (int target = 0; target < count; ++target) {
      std::vector<std::vector<float>> own = values;
      Fold(Pointers(own), absl::MakeSpan(own[target]));
      ASSERT_TRUE(SameBits(own[target], expected)) << count << " terms, into term " << target;
    }
  }
}

TEST(FoldTest, SumsTooLargeForTheCachesAreTheSame) {
  const int64_t n = (8 << 20) / sizeof(float) + 5;
  std::vector<float> even(n), odd(n);
  for (int64_t i = 0; i < n; ++i) even[i] = 0.37f * static_cast<float>(i);
  for (int64_t i = 0; i < n; ++i) odd[i] = 1e6f - 0.11f * static_cast<float>(i);
  for (int count : {2, 9}) {
    std::vector<const float*> terms(count, even.data());
    for (int k = 1; k < count; k += 2) terms[k] = odd.data();
    std::vector<float> expected = even, out(n);
    for (int k = 1; k < count; ++k) {
      for (int64_t i = 0; i < n; ++i) expected[i] += terms[k][i];
    }
    Fold(terms, absl::MakeSpan(out));
    ASSERT_TRUE(SameBits(out, expected)) << count << " terms";
  }
}

TEST(FoldTest, NothingToAdd) {
  const float* const terms[] = {nullptr, nullptr, nullptr};
  Fold(terms, {});
}

TEST(FoldRangeInLawOrderTest, GivesThatPartOfTheWholeWhateverBordersItCrosses) {
  const int64_t n = 47;
  for (int ranks = 1; ranks <= 10; ++ranks) {
    const std::vector<std::vector<float>> gradients = RandomVectors(ranks, n);
    std::vector<float> whole(n);
    FoldInLawOrder({gradients.begin(), gradients.end()}, absl::MakeSpan(whole));
    for (int64_t begin = 0; begin <= n; ++begin) {
      for (int64_t length = 0; begin + length <= n; ++length) {
        std::vector<float> out(length);
        FoldRangeInLawOrder(Pointers(gradients), n, {begin, length}, absl::MakeSpan(out));
        ASSERT_TRUE(SameBits(out, {whole.begin() + begin, whole.begin() + begin + length}))
            << ranks << " ranks, " << length << " elements from " << begin;
      }
    }
  }
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

TEST(FoldInLawOrderTest, RoundsPartialSumsAtEveryHopOfA16BitWire) {
  for (WireDtype dtype : {WireDtype::kBFloat16, WireDtype::kFloat16}) {
    for (int ranks = 2; ranks <= 5; ++ranks) {
      const int64_t n = 1024 * ranks + 517;  // chunks of more than a block
      const std::vector<std::vector<float>> gradients = RandomVectors(ranks, n);
      std::vector<float> expected(n), out(n);
      for (int c = 0; c < ranks; ++c) {
        const ElementRange chunk = Part({0, n}, ranks, c);
        for (int64_t i = chunk.begin; i < chunk.end(); ++i) {
          float sum = gradients[c][i];
          for (int k = 1; k < ranks; ++k) {
            sum = Rounded(dtype, sum) + gradients[(c + k) % ranks][i];
          }
          expected[i] = Rounded(dtype, sum);
        }
      }
      FoldInLawOrder(dtype, {gradients.begin(), gradients.end()}, absl::MakeSpan(out));
      ASSERT_TRUE(SameBits(out, expected)) << ranks << " ranks";
    }
  }
}

TEST(FoldInLawOrderTest, RoundsNothingOnAFloat32WireNorWithOneRank) {
  const std::vector<std::vector<float>> gradients = RandomVectors(3, 100);
  std::vector<float> expected(100), out(100);
  FoldInLawOrder({gradients.begin(), gradients.end()}, absl::MakeSpan(expected));
  FoldInLawOrder(WireDtype::kFloat32, {gradients.begin(), gradients.end()}, absl::MakeSpan(out));
  EXPECT_TRUE(SameBits(out, expected));
  FoldInLawOrder(WireDtype::kBFloat16, {gradients[0]}, absl::MakeSpan(out));
  EXPECT_TRUE(SameBits(out, gradients[0]));
}

}  // namespace
}  // namespace ringside
