#include "worker/synchronizers/whole_update.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <vector>

namespace ringside {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr double kRate = 0.25;

// More than two blocks, and parameters that begin and end inside of them.
BucketPlan Plan() {
  return *BucketPlan::Create({{"a", {100, 400}}, {"b", {400}}, {"c", {7, 3}}}, 4, 4);
}

std::vector<float> Random(int64_t elements, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(elements);
  for (float& value : values) value = normal(random);
  return values;
}

OptimizerConfig Named(const std::string& name) {
  OptimizerConfig config;
  config.name = name;
  if (name == "sgd" || name == "lars") config.momentum = 0.9;
  config.weight_decay = 0.01;
  return config;
}

// An update and what it updates.
struct Subject {
  Subject(const std::string& optimizer_name, WholeUpdate::Config config)
      : optimizer(*Optimizer::Create(Named(optimizer_name), plan.specs())),
        update(config, &plan, optimizer.get()),
        parameters(Random(plan.total_elements(), 1)) {}

  bool Apply(int64_t step, const std::vector<float>& sums) {
    return update.Apply(step, kRate, sums, absl::MakeSpan(parameters));
  }
  std::vector<std::vector<float>> State() const {
    std::vector<std::vector<float>> state = {parameters};
    for (const absl::Span<float> part : optimizer->State()) {
      state.emplace_back(part.begin(), part.end());
    }
    return state;
  }

  const BucketPlan plan = Plan();
  const std::unique_ptr<Optimizer> optimizer;
  WholeUpdate update;
  std::vector<float> parameters;
};

bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

class WholeUpdateTest : public ::testing::TestWithParam<const char*> {};

TEST_P(WholeUpdateTest, IsTheOptimizersOwnUpdateHoweverItIsChecked) {
  Subject by_blocks(GetParam(), {});
  Subject in_two_passes(GetParam(), {0, true});
  Subject never_clipped(GetParam(), {1e9, false});
  Subject plain(GetParam(), {});
  for (int64_t step = 1; step <= 5; ++step) {
    const std::vector<float> sums = Random(plain.plan.total_elements(), 10 + step);
    for (Subject* subject : {&by_blocks, &in_two_passes, &never_clipped}) {
      ASSERT_TRUE(subject->Apply(step, sums));
    }
    plain.optimizer->Apply(step, kRate, sums, absl::MakeSpan(plain.parameters));
    EXPECT_TRUE(SameBits(by_blocks.parameters, plain.parameters));
    EXPECT_TRUE(SameBits(in_two_passes.parameters, plain.parameters));
    EXPECT_TRUE(SameBits(never_clipped.parameters, plain.parameters));
  }
}

TEST_P(WholeUpdateTest, ClippingIsAnUpdateWithTheScaledGradient) {
  constexpr double kClip = 1.5;
  Subject clipped(GetParam(), {kClip, false});
  Subject plain(GetParam(), {});
  for (int64_t step = 1; step <= 5; ++step) {
    std::vector<float> sums = Random(plain.plan.total_elements(), 10 + step);
    ASSERT_TRUE(clipped.Apply(step, sums));
    double square = 0;
    for (float value : sums) square += static_cast<double>(value) * static_cast<double>(value);
    ASSERT_GT(std::sqrt(square), kClip);
    for (float& value : sums) value *= static_cast<float>(kClip / std::sqrt(square));
    plain.optimizer->Apply(step, kRate, sums, absl::MakeSpan(plain.parameters));
    for (size_t i = 0; i < sums.size(); ++i) {
      ASSERT_NEAR(clipped.parameters[i], plain.parameters[i], 1e-5) << step << " " << i;
    }
  }
}

TEST_P(WholeUpdateTest, AllOrNothingLeavesEveryBitWhereItWas) {
  Subject subject(GetParam(), {0, true});
  std::vector<float> sums = Random(subject.plan.total_elements(), 10);
  ASSERT_TRUE(subject.Apply(1, sums));
  const auto before = subject.State();
  for (size_t at : {size_t{0}, sums.size() / 2, sums.size() - 1}) {
    std::vector<float> bad = sums;
    bad[at] = kNan;
    EXPECT_FALSE(subject.Apply(2, bad));
    const auto after = subject.State();
    for (size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(SameBits(after[i], before[i]));
  }
  EXPECT_TRUE(subject.Apply(2, sums));
}

TEST_P(WholeUpdateTest, SaysSoInEveryMode) {
  std::vector<float> bad = Random(Plan().total_elements(), 10);
  bad.back() = -std::numeric_limits<float>::infinity();
  for (const WholeUpdate::Config& config : {WholeUpdate::Config{0, false}, {1, false}, {1, true}}) {
    Subject subject(GetParam(), config);
    EXPECT_FALSE(subject.Apply(1, bad));
  }
}

INSTANTIATE_TEST_SUITE_P(Optimizers, WholeUpdateTest,
                         ::testing::Values("sgd", "adam", "adamw", "lars"),
                         [](const auto& info) { return std::string(info.param); });

TEST(ClippingTest, TheNormIsThatOfAllParametersTogether) {
  const BucketPlan plan = *BucketPlan::Create({{"a", {1}}, {"b", {1}}}, 4, 4);
  OptimizerConfig config;
  const auto optimizer = *Optimizer::Create(config, plan.specs());
  WholeUpdate update({2.5, false}, &plan, optimizer.get());
  std::vector<float> parameters = {0, 0};
  ASSERT_TRUE(update.Apply(1, 1, std::vector<float>{3, 4}, absl::MakeSpan(parameters)));
  EXPECT_EQ(parameters, (std::vector<float>{-1.5f, -2}));  // norm 5, halved
  ASSERT_TRUE(update.Apply(2, 1, std::vector<float>{1.5f, 2}, absl::MakeSpan(parameters)));
  EXPECT_EQ(parameters, (std::vector<float>{-3, -4}));  // norm 2.5, as it is
}

}  // namespace
}  // namespace ringside
