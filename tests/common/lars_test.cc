#include "common/lars.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace ringside {
namespace {

using ::testing::HasSubstr;

OptimizerConfig Config(double momentum, double decay) {
  OptimizerConfig config;
  config.name = "lars";
  config.momentum = momentum;
  config.weight_decay = decay;
  config.lars_trust = 0.02;
  config.epsilon = 1e-6;
  return config;
}

// Two that are adapted, around two that are not.
std::vector<ParameterSpec> Specs() {
  return {{"fc1.weight", {7, 30}}, {"fc1.bias", {7}}, {"scale", {}}, {"conv.weight", {2, 3, 3, 3}}};
}

std::vector<float> Random(int64_t elements, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(elements);
  for (float& value : values) value = normal(random);
  return values;
}

// Algorithm 1 of the paper, one parameter, in double.
struct Model {
  OptimizerConfig config;
  bool adapted = true;
  std::vector<double> w;
  std::vector<double> v = std::vector<double>(w.size(), 0.0);

  static double Norm(const std::vector<double>& values) {
    double square = 0;
    for (double value : values) square += value * value;
    return std::sqrt(square);
  }
  void Step(double rate, const std::vector<double>& g) {
    double local = 1;
    const double decay = adapted ? config.weight_decay : 0;
    if (adapted && Norm(w) > 0 && Norm(g) > 0) {
      local = config.lars_trust * Norm(w) / (Norm(g) + decay * Norm(w) + config.epsilon);
    }
    for (size_t i = 0; i < w.size(); ++i) {
      v[i] = config.momentum * v[i] + rate * local * (g[i] + decay * w[i]);
      w[i] -= v[i];
    }
  }
};

std::vector<double> Wide(absl::Span<const float> values) { return {values.begin(), values.end()}; }

TEST(LarsTest, FollowsThePaperParameterByParameter) {
  for (const OptimizerConfig& config : {Config(0, 0), Config(0.9, 0), Config(0.9, 0.01)}) {
    const std::vector<ParameterSpec> specs = Specs();
    const auto optimizer = *Optimizer::Create(config, specs);
    std::vector<float> parameters = Random(TotalElements(specs), 1);
    std::vector<Model> models;
    int64_t begin = 0;
    for (const ParameterSpec& spec : specs) {
      models.push_back({config, spec.shape.size() > 1,
                        Wide(absl::MakeConstSpan(parameters).subspan(begin, spec.elements()))});
      begin += spec.elements();
    }
    for (int step = 1; step <= 100; ++step) {
      const double rate = 0.5 / step;
      const std::vector<float> gradients = Random(TotalElements(specs), 100 + step);
      optimizer->Apply(step, rate, gradients, absl::MakeSpan(parameters));
      begin = 0;
      for (Model& model : models) {
        const auto length = static_cast<int64_t>(model.w.size());
        model.Step(rate, Wide(absl::MakeConstSpan(gradients).subspan(begin, length)));
        for (int64_t i = 0; i < length; ++i) {
          ASSERT_NEAR(parameters[begin + i], model.w[i], 1e-4 * std::max(1.0, std::abs(model.w[i])))
              << "step " << step << " element " << begin + i;
        }
        begin += length;
      }
    }
  }
}

TEST(LarsTest, BiasesAndNormsAreNeitherAdaptedNorDecayed) {
  const auto optimizer = *Optimizer::Create(Config(0, 0.5), {{"bias", {3}}});
  std::vector<float> parameters = {1, 2, 3};
  optimizer->Apply(1, 0.5, std::vector<float>{2, 4, 6}, absl::MakeSpan(parameters));
  EXPECT_EQ(parameters, (std::vector<float>{0, 0, 0}));
}

TEST(LarsTest, AZeroNormMeansTheGlobalRate) {
  const auto optimizer = *Optimizer::Create(Config(0, 0), {{"weight", {1, 2}}});
  std::vector<float> parameters = {0, 0};
  optimizer->Apply(1, 0.5, std::vector<float>{2, -4}, absl::MakeSpan(parameters));
  EXPECT_EQ(parameters, (std::vector<float>{-1, 2}));
  optimizer->Apply(2, 0.5, std::vector<float>{0, 0}, absl::MakeSpan(parameters));
  EXPECT_EQ(parameters, (std::vector<float>{-1, 2}));
}

TEST(LarsTest, ChangesNoBitHoweverTheRangeIsCutAndGoesOnFromItsState) {
  const std::vector<ParameterSpec> specs = Specs();
  const int64_t elements = TotalElements(specs);
  const auto whole = *Optimizer::Create(Config(0.9, 0.01), specs);
  auto parts = *Optimizer::Create(Config(0.9, 0.01), specs);
  std::vector<float> expected = Random(elements, 1), actual = expected;
  for (int step = 1; step <= 20; ++step) {
    const std::vector<float> gradients = Random(elements, 50 + step);
    whole->Apply(step, 0.1, gradients, absl::MakeSpan(expected));
    std::vector<double> norms;
    int64_t begin = 0;
    for (const ParameterSpec& spec : specs) {
      double square = 0;
      for (int64_t i = begin; i < begin + spec.elements(); ++i) {
        square += static_cast<double>(gradients[i]) * gradients[i];
      }
      norms.push_back(std::sqrt(square));
      begin += spec.elements();
    }
    if (step == 10) {  // as a checkpoint does
      auto restored = *Optimizer::Create(Config(0.9, 0.01), specs);
      ASSERT_EQ(restored->State().size(), 1u);
      std::copy(parts->State()[0].begin(), parts->State()[0].end(), restored->State()[0].begin());
      parts = std::move(restored);
    }
    EXPECT_TRUE(parts->needs_norms());
    parts->Prepare(norms, actual);
    for (begin = 0; begin < elements; begin += step) {
      const int64_t length = std::min<int64_t>(step, elements - begin);
      parts->ApplyRange(step, 0.1, begin, absl::MakeConstSpan(gradients).subspan(begin, length),
                        absl::MakeSpan(actual).subspan(begin, length));
    }
    for (int64_t i = 0; i < elements; ++i) {
      // Only the norms may differ, in their last bits.
      ASSERT_NEAR(actual[i], expected[i], 1e-5) << "step " << step << " element " << i;
    }
  }
}

TEST(LarsTest, NeedsToKnowTheParametersAndRefusesWhatItHasNot) {
  EXPECT_THAT(std::string(Optimizer::Create(Config(0, 0), 7).status().message()),
              HasSubstr("--optimizer=lars: needs whole parameters"));
  OptimizerConfig config = Config(0.9, 0);
  config.nesterov = true;
  EXPECT_THAT(std::string(Optimizer::Create(config, Specs()).status().message()),
              HasSubstr("--nesterov=true: must be false with --optimizer=lars"));
  config = Config(0, 0);
  config.lars_trust = std::numeric_limits<double>::infinity();
  EXPECT_THAT(std::string(config.Validate().message()), HasSubstr("--lars_trust=inf: must be"));
  EXPECT_FALSE((*Optimizer::Create(OptimizerConfig(), Specs()))->needs_norms());
}

}  // namespace
}  // namespace ringside
