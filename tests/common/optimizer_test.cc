#include "common/optimizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

// What needs no oracle; tests/worker compares with torch::optim.

namespace ringside {
namespace {

using ::testing::HasSubstr;

constexpr double kRate = 0.05;

OptimizerConfig Sgd(double momentum, bool nesterov, double decay) {
  OptimizerConfig config;
  config.name = "sgd";
  config.momentum = momentum;
  config.nesterov = nesterov;
  config.weight_decay = decay;
  return config;
}

OptimizerConfig AdamLike(const char* name, double decay) {
  OptimizerConfig config;
  config.name = name;
  config.weight_decay = decay;
  return config;
}

std::vector<OptimizerConfig> AllKinds() {
  return {Sgd(0, false, 0.01), Sgd(0.9, false, 0.01), Sgd(0.9, true, 0), AdamLike("adam", 0.01),
          AdamLike("adamw", 0.01)};
}

std::string NameOf(const OptimizerConfig& config) {
  return absl::StrCat(config.name, " momentum ", config.momentum, " nesterov ", config.nesterov);
}

std::vector<float> Wave(int64_t elements, double phase) {
  std::vector<float> values(elements);
  for (int64_t i = 0; i < elements; ++i) {
    values[i] = static_cast<float>(std::sin(0.7 * static_cast<double>(i) + phase));
  }
  return values;
}

bool SameBits(absl::Span<const float> a, absl::Span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// Begins of consecutive ranges that make up [0, elements), with its end; some ranges are empty.
std::vector<int64_t> RandomCuts(int64_t elements, std::mt19937* random) {
  std::vector<int64_t> cuts = {0, elements};
  const int count = static_cast<int>((*random)() % 12);
  for (int i = 0; i < count; ++i) {
    cuts.push_back(static_cast<int64_t>((*random)() % static_cast<uint64_t>(elements + 1)));
  }
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

TEST(OptimizerTest, ChangesNoBitHoweverTheRangeIsCut) {
  constexpr int64_t kElements = 1003;  // not a multiple of any vector's width
  std::mt19937 random(17);
  for (const OptimizerConfig& config : AllKinds()) {
    SCOPED_TRACE(NameOf(config));
    const auto whole = *Optimizer::Create(config, kElements);
    const auto in_parts = *Optimizer::Create(config, kElements);
    std::vector<float> expected = Wave(kElements, 1);
    std::vector<float> parameters = expected;
    for (int step = 1; step <= 20; ++step) {
      const std::vector<float> gradients = Wave(kElements, 2 + step);
      const double rate = kRate / step;
      whole->Apply(step, rate, gradients, absl::MakeSpan(expected));
      const std::vector<int64_t> cuts = RandomCuts(kElements, &random);
      std::vector<size_t> order(cuts.size() - 1);
      for (size_t i = 0; i < order.size(); ++i) order[i] = i;
      std::shuffle(order.begin(), order.end(), random);
      for (size_t i : order) {
        const int64_t begin = cuts[i], length = cuts[i + 1] - cuts[i];
        in_parts->ApplyRange(step, rate, begin,
                             absl::MakeConstSpan(gradients).subspan(begin, length),
                             absl::MakeSpan(parameters).subspan(begin, length));
      }
      ASSERT_TRUE(SameBits(parameters, expected)) << "step " << step;
    }
    const auto states = in_parts->State(), expected_states = whole->State();
    ASSERT_EQ(states.size(), expected_states.size());
    for (size_t i = 0; i < states.size(); ++i) {
      EXPECT_TRUE(SameBits(states[i], expected_states[i])) << "state " << i;
    }
  }
}

TEST(OptimizerTest, GoesOnFromASavedState) {
  constexpr int64_t kElements = 37;
  for (const OptimizerConfig& config : AllKinds()) {
    SCOPED_TRACE(NameOf(config));
    const auto original = *Optimizer::Create(config, kElements);
    std::vector<float> expected = Wave(kElements, 1);
    for (int step = 1; step <= 5; ++step) {
      original->Apply(step, kRate, Wave(kElements, step), absl::MakeSpan(expected));
    }
    const auto restored = *Optimizer::Create(config, kElements);
    std::vector<float> parameters = expected;
    const auto from = original->State(), to = restored->State();
    ASSERT_EQ(from.size(), to.size());
    for (size_t i = 0; i < from.size(); ++i) {
      std::copy(from[i].begin(), from[i].end(), to[i].begin());
    }
    for (int step = 6; step <= 10; ++step) {
      original->Apply(step, kRate, Wave(kElements, step), absl::MakeSpan(expected));
      restored->Apply(step, kRate, Wave(kElements, step), absl::MakeSpan(parameters));
    }
    EXPECT_TRUE(SameBits(parameters, expected));
  }
}

TEST(OptimizerTest, StateIsWhatTheFormulaRemembers) {
  const auto sizes = [](const OptimizerConfig& config) {
    std::vector<size_t> sizes;
    const auto optimizer = *Optimizer::Create(config, 7);
    for (const auto& state : optimizer->State()) sizes.push_back(state.size());
    return sizes;
  };
  EXPECT_EQ(sizes(Sgd(0, false, 0)), (std::vector<size_t>{}));
  EXPECT_EQ(sizes(Sgd(0.9, true, 0)), (std::vector<size_t>{7}));
  EXPECT_EQ(sizes(AdamLike("adam", 0)), (std::vector<size_t>{7, 7}));
  EXPECT_EQ(sizes(AdamLike("adamw", 0)), (std::vector<size_t>{7, 7}));
}

TEST(OptimizerTest, TheRateIsThatOfTheCall) {
  const auto optimizer = *Optimizer::Create(Sgd(0, false, 0), 1);
  float parameter = 8;
  const float gradient = 4;
  optimizer->Apply(1, 0.5, {&gradient, 1}, {&parameter, 1});
  EXPECT_EQ(parameter, 6);
  optimizer->Apply(2, 0.25, {&gradient, 1}, {&parameter, 1});
  EXPECT_EQ(parameter, 5);
}

TEST(OptimizerTest, RangesCanBeUpdatedApart) {
  // A shard that owns a part of the parameters computes what a worker computes for all.
  OptimizerConfig config;
  config.name = "adam";
  const std::vector<float> gradients = {1, -2, 3, -4, 5};
  std::vector<float> whole = {5, 4, 3, 2, 1};
  std::vector<float> parts = whole;
  const auto all = Optimizer::Create(config, 5);
  const auto first = Optimizer::Create(config, 2);
  const auto second = Optimizer::Create(config, 3);
  ASSERT_TRUE(all.ok() && first.ok() && second.ok());
  const auto span = absl::MakeSpan(parts);
  for (int step = 1; step <= 3; ++step) {
    (*all)->Apply(step, kRate, gradients, absl::MakeSpan(whole));
    (*first)->Apply(step, kRate, absl::MakeConstSpan(gradients).subspan(0, 2), span.subspan(0, 2));
    (*second)->Apply(step, kRate, absl::MakeConstSpan(gradients).subspan(2), span.subspan(2));
  }
  EXPECT_EQ(whole, parts);
}

TEST(OptimizerTest, NothingToUpdateIsFine) {
  const auto optimizer = Optimizer::Create(Sgd(0.9, true, 0), 0);
  ASSERT_TRUE(optimizer.ok());
  (*optimizer)->Apply(1, kRate, {}, {});
}

TEST(OptimizerTest, ValidateNamesFlagAndValue) {
  const auto refusal = [](const std::function<void(OptimizerConfig*)>& change) {
    OptimizerConfig config;
    change(&config);
    const absl::Status status = config.Validate();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(OptimizerConfig().Validate().ok());
  EXPECT_THAT(refusal([](auto* c) { c->name = "lion"; }),
              HasSubstr("--optimizer=lion: must be one of sgd, adam, adamw, lars"));
  EXPECT_THAT(refusal([](auto* c) { c->learning_rate = 0; }), HasSubstr("--learning_rate=0: must"));
  EXPECT_THAT(refusal([&](auto* c) { c->learning_rate = nan; }), HasSubstr("--learning_rate=nan"));
  EXPECT_THAT(refusal([](auto* c) { c->momentum = 1; }), HasSubstr("--momentum=1: must"));
  EXPECT_THAT(refusal([](auto* c) { c->nesterov = true; }), HasSubstr("--nesterov=true"));
  EXPECT_THAT(refusal([](auto* c) { c->name = "adam", c->momentum = 0.9; }),
              HasSubstr("--momentum=0.9: must be 0 with --optimizer=adam"));
  EXPECT_THAT(refusal([](auto* c) { c->weight_decay = -1; }), HasSubstr("--weight_decay=-1"));
  EXPECT_THAT(refusal([](auto* c) { c->beta1 = 1; }), HasSubstr("--beta1=1"));
  EXPECT_THAT(refusal([](auto* c) { c->beta2 = -0.5; }), HasSubstr("--beta2=-0.5"));
  EXPECT_THAT(refusal([](auto* c) { c->epsilon = 0; }), HasSubstr("--epsilon=0"));
}

}  // namespace
}  // namespace ringside
