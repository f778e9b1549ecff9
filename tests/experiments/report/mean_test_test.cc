#include "experiments/report/mean_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

namespace ringside {
namespace {

using ::testing::ElementsAre;

TEST(StudentTailTest, AgainstClosedForms) {
  EXPECT_DOUBLE_EQ(StudentTail(0, 3), 0.5);
  EXPECT_NEAR(StudentTail(1, 1), 0.25, 1e-12);  // Cauchy: 1/2 - atan(1) / pi
  EXPECT_NEAR(StudentTail(-1, 1), 0.75, 1e-12);
  // Of two degrees 1/2 - t / (2 sqrt(2 + t^2)).
  EXPECT_NEAR(StudentTail(2, 2), 0.5 - 2 / (2 * std::sqrt(6)), 1e-12);
  EXPECT_NEAR(StudentTail(300, 2), 0.5 - 300 / (2 * std::sqrt(90002)), 1e-12);
}

TEST(StudentTailTest, AgainstTables) {
  EXPECT_NEAR(StudentTail(2.306, 8), 0.025, 1e-5);
  EXPECT_NEAR(StudentTail(1.645, 1e6), 0.05, 2e-5);
  EXPECT_NEAR(StudentTail(6.314, 1), 0.05, 1e-5);
}

TEST(ProbabilityOfExcessTest, ByHand) {
  // Both variances are 1, so that the error of the difference is sqrt(2 / 3), t = 3 / 0.8165 =
  // 3.674, with 4 degrees of freedom.
  const double t = 3 / std::sqrt(2.0 / 3);
  const double x = t / std::sqrt(1 + t * t / 4);
  const double tail = 0.5 - 3.0 / 8 * x * (1 - x * x / 12);
  EXPECT_NEAR(ProbabilityOfExcess({4, 5, 6}, {1, 2, 3}, 0), tail, 1e-12);
  EXPECT_NEAR(ProbabilityOfExcess({1, 2, 3}, {4, 5, 6}, 0), 1 - tail, 1e-12);
  EXPECT_NEAR(ProbabilityOfExcess({4, 5, 6}, {1, 2, 3}, 3), 0.5, 1e-12);
}

TEST(ProbabilityOfExcessTest, WithoutVariationOrWithoutValues) {
  EXPECT_EQ(ProbabilityOfExcess({2, 2}, {1, 1}, 0), 0);
  EXPECT_EQ(ProbabilityOfExcess({2, 2}, {1, 1}, 1), 1);
  EXPECT_EQ(ProbabilityOfExcess({9}, {1, 1}, 0), 1);
  EXPECT_EQ(ProbabilityOfExcess({9, 9}, {}, 0), 1);
}

TEST(SignificantTogetherTest, StepsDownFromTheSmallest) {
  // 0.01 <= 0.05 / 4, 0.015 <= 0.05 / 3, 0.03 > 0.05 / 2: the rest are not looked at.
  EXPECT_THAT(SignificantTogether({0.03, 0.01, 0.04, 0.015}, 0.05),
              ElementsAre(false, true, false, true));
  EXPECT_THAT(SignificantTogether({0.05}, 0.05), ElementsAre(true));
  EXPECT_THAT(SignificantTogether({}, 0.05), ElementsAre());
}

TEST(SignificantTogetherTest, EqualSamplesAreRarelyCalledDifferent) {
  std::mt19937_64 generator(7);
  // Nearly normal: twelve uniform numbers.
  const auto noise = [&generator] {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(generator() >> 11) / 9007199254740992.0;
    return sum;
  };
  constexpr int kRepetitions = 2000;
  int wrong = 0;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    std::vector<double> probabilities;
    for (int cell = 0; cell < 8; ++cell) {
      std::vector<double> a;
      std::vector<double> b;
      for (int trial = 0; trial < 5; ++trial) {
        a.push_back(noise());
        b.push_back(noise());
      }
      probabilities.push_back(ProbabilityOfExcess(a, b, 0));
    }
    const std::vector<bool> significant = SignificantTogether(probabilities, 0.05);
    if (std::find(significant.begin(), significant.end(), true) != significant.end()) ++wrong;
  }
  EXPECT_LE(wrong, kRepetitions * 6 / 100);
  EXPECT_GE(wrong, kRepetitions * 2 / 100);
}

}  // namespace
}  // namespace ringside
