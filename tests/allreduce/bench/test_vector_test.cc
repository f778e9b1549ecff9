#include "allreduce/bench/test_vector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace ringside {
namespace {

std::vector<float> Vector(int rank, size_t length) {
  std::vector<float> values(length);
  FillTestVector(rank, absl::MakeSpan(values));
  return values;
}

TEST(TestVectorTest, SumsOfAllRanksAreRecognised) {
  constexpr size_t kLength = 5000;
  std::vector<float> sums(kLength);
  for (int rank = 0; rank < 32; ++rank) {
    const std::vector<float> values = Vector(rank, kLength);
    EXPECT_EQ(CountOtherThanTestVector(rank, values), 0);
    for (size_t i = 0; i < kLength; ++i) sums[i] += values[i];
    EXPECT_EQ(CountWrongSums(rank + 1, sums), 0);
  }
  // bf16 has 8 bits of mantissa: every integer up to 256.
  EXPECT_LE(*std::max_element(sums.begin(), sums.end()), 256);
}

TEST(TestVectorTest, CountsEveryWrongElement) {
  std::vector<float> sums = Vector(0, 3000);
  for (size_t i : {0, 996, 997, 2999}) sums[i] += 1;
  EXPECT_EQ(CountWrongSums(1, sums), 4);
}

TEST(TestVectorTest, RanksBringDifferentNumbers) {
  EXPECT_GT(CountOtherThanTestVector(1, Vector(0, 1000)), 500);
}

TEST(TestVectorTest, ShiftedOrExchangedElementsShow) {
  const std::vector<float> values = Vector(0, 4096);
  for (const size_t shift : {1, 16, 256, 1024}) {
    const std::vector<float> shifted(values.begin() + shift, values.end());
    EXPECT_GT(CountOtherThanTestVector(0, shifted), static_cast<int64_t>(shifted.size() / 2));
  }
}

TEST(TestVectorTest, AnEmptyVectorIsRight) { EXPECT_EQ(CountWrongSums(4, {}), 0); }

}  // namespace
}  // namespace ringside
