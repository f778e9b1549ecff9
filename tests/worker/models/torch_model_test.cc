#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "tests/worker/models/model_bench.h"
#include "worker/models/model_factory.h"
#include "worker/models/torch_runtime.h"

namespace ringside {
namespace {

std::vector<std::string> Names(const Model& model) {
  std::vector<std::string> names;
  for (const ParameterSpec& spec : model.Parameters()) names.push_back(spec.name);
  return names;
}

TEST(TorchModelTest, ParametersOfTheMlp) {
  const ModelBench bench(ModelConfig{});
  EXPECT_EQ(Names(*bench.model), (std::vector<std::string>{"fc1.weight", "fc1.bias", "fc2.weight",
                                                           "fc2.bias", "fc3.weight", "fc3.bias"}));
  EXPECT_EQ(bench.model->Parameters()[0].shape, (std::vector<int64_t>{256, 784}));
  EXPECT_EQ(bench.parameters->span().size(), 784u * 256 + 256 + 256 * 128 + 128 + 128 * 10 + 10);
}

TEST(TorchModelTest, ParametersOfLenet) {
  ModelConfig config;
  config.name = "lenet";
  const ModelBench bench(config);
  EXPECT_EQ(Names(*bench.model),
            (std::vector<std::string>{"conv1.weight", "conv1.bias", "conv2.weight", "conv2.bias",
                                      "fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"}));
  EXPECT_EQ(bench.parameters->span().size(),
            16u * 25 + 16 + 32 * 16 * 25 + 32 + 512 * 128 + 128 + 128 * 10 + 10);
}

TEST(TorchModelTest, AnMlpNeedsNoHiddenLayer) {
  const ModelBench bench(Configured("mlp", "hidden=", SampleShape::Image(1, 2, 2, 3)));
  EXPECT_EQ(bench.parameters->span().size(), 4u * 3 + 3);
}

TEST(TorchModelTest, InitialisationDependsOnTheSeedAlone) {
  ModelConfig config = TinyMlp();
  const ModelBench one(config);
  const ModelBench same(config);
  config.seed = 2;
  const ModelBench other(config);
  EXPECT_TRUE(one.parameters->span() == same.parameters->span());
  EXPECT_FALSE(one.parameters->span() == other.parameters->span());
}

TEST(TorchModelTest, GradientsAgreeWithFiniteDifferences) {
  for (const ModelConfig& config : {TinyMlp(), TinyLenet()}) {
    ModelBench bench(config);
    constexpr double kWeight = 0.25;
    bench.Step(kWeight);
    const absl::Span<float> parameters = bench.parameters->span();
    const size_t stride = parameters.size() > 500 ? 397 : 1;
    int off = 0, checked = 0;
    for (size_t i = 0; i < parameters.size(); i += stride, ++checked) {
      constexpr float kDelta = 1e-2f;
      const float value = parameters[i];
      parameters[i] = value + kDelta;
      const double above = bench.Loss();
      parameters[i] = value - kDelta;
      const double below = bench.Loss();
      parameters[i] = value;
      const double numeric = kWeight * (above - below) / (2 * kDelta);
      if (std::abs(numeric - bench.gradients->span()[i]) > 2e-3) ++off;
    }
    // Where a ReLU or a maximum switches between the two points, the difference is no derivative.
    EXPECT_LE(off, checked / 20) << config.name << ", of " << checked;
  }
}

TEST(TorchModelTest, ParametersBecomeReadyLastLayerFirst) {
  for (const ModelConfig& config : {TinyMlp(), TinyLenet()}) {
    ModelBench bench(config);
    bench.Step(1);
    const int count = static_cast<int>(bench.model->Parameters().size());
    ASSERT_EQ(static_cast<int>(bench.ready.size()), count);
    for (int i = 0; i < count; ++i) {
      // Weight and bias of one layer may come in either order.
      EXPECT_EQ(bench.ready[i] / 2, (count - 1 - i) / 2) << config.name << " position " << i;
    }
  }
}

TEST(TorchModelTest, AGradientIsInTheArenaWhenItsParameterIsReady) {
  auto model = *CreateModel(TinyMlp());
  const int64_t elements = TotalElements(model->Parameters());
  std::vector<float> parameters(elements), gradients(elements, 7.0f);
  std::vector<int64_t> begins;
  int64_t begin = 0;
  for (const ParameterSpec& spec : model->Parameters()) {
    begins.push_back(begin);
    begin += spec.elements();
  }
  std::vector<std::vector<float>> seen(begins.size());
  ASSERT_TRUE(model
                  ->Bind(absl::MakeSpan(parameters), absl::MakeSpan(gradients),
                         [&](int index) {
                           const auto from = gradients.begin() + begins[index];
                           seen[index].assign(from, from + model->Parameters()[index].elements());
                         })
                  .ok());
  const std::vector<float> images(2 * 16, 0.5f);
  const std::vector<int64_t> labels = {0, 2};
  model->ClearGradients();
  ASSERT_TRUE(model->Forward({images, labels}).ok());
  ASSERT_TRUE(model->Backward(1).ok());
  std::vector<float> all;
  for (const auto& part : seen) all.insert(all.end(), part.begin(), part.end());
  EXPECT_EQ(all, gradients);
  EXPECT_TRUE(std::any_of(all.begin(), all.end(), [](float value) { return value != 0; }));
}

TEST(TorchModelTest, TheBindingStaysOverSteps) {
  ModelBench bench(TinyMlp());
  const double before = bench.Loss();
  for (int step = 0; step < 50; ++step) {
    const absl::Span<float> gradients = bench.gradients->span();
    bench.model->ClearGradients();
    bench.Step(1);
    for (size_t i = 0; i < gradients.size(); ++i)
      bench.parameters->span()[i] -= 0.1f * gradients[i];
  }
  EXPECT_LT(bench.Loss(), 0.5 * before);
}

TEST(TorchModelTest, GradientsAddUpUntilCleared) {
  ModelBench bench(TinyMlp());
  bench.Step(1);
  const std::vector<float> once(bench.gradients->span().begin(), bench.gradients->span().end());
  bench.Step(1);
  for (size_t i = 0; i < once.size(); ++i) EXPECT_EQ(bench.gradients->span()[i], 2 * once[i]);
}

TEST(TorchModelTest, SharesWeightedBySamplesAddUpToTheGlobalMean) {
  ModelBench whole(TinyMlp(), 5);
  whole.Step(1);
  ModelBench parts(TinyMlp(), 5);
  double loss = 0;
  for (const auto& [begin, count] : {std::pair<int, int>{0, 3}, {3, 2}}) {
    loss += count / 5.0 * *parts.model->Forward(parts.batch(begin, count));
    ASSERT_TRUE(parts.model->Backward(count / 5.0).ok());
  }
  EXPECT_NEAR(loss, whole.Loss(), 1e-6);
  for (size_t i = 0; i < whole.gradients->span().size(); ++i) {
    EXPECT_NEAR(parts.gradients->span()[i], whole.gradients->span()[i], 1e-6);
  }
}

TEST(TorchModelTest, EvaluationCountsAndLeavesEverythingAlone) {
  ModelBench bench(TinyMlp(), 6);
  const std::vector<float> before(bench.parameters->span().begin(), bench.parameters->span().end());
  const auto sums = bench.model->Evaluate(bench.batch());
  ASSERT_TRUE(sums.ok()) << sums.status();
  EXPECT_EQ(sums->samples, 6);
  EXPECT_GE(sums->correct, 0);
  EXPECT_LE(sums->correct, 6);
  EXPECT_NEAR(sums->loss, 6 * bench.Loss(), 1e-4);
  EXPECT_TRUE(std::equal(before.begin(), before.end(), bench.parameters->span().begin()));
  EXPECT_TRUE(bench.ready.empty());
}

TEST(TorchModelTest, WhatLibTorchThrowsIsAStatus) {
  ModelBench bench(TinyMlp());
  bench.labels[0] = 99;
  EXPECT_EQ(bench.model->Forward(bench.batch()).status().code(), absl::StatusCode::kInternal);
}

TEST(TorchModelTest, LengthsOfABatchAreChecked) {
  ModelBench bench(TinyMlp());
  bench.labels.pop_back();
  EXPECT_EQ(bench.model->Forward(bench.batch()).status().message(),
            "a batch of 64 pixels, 0 tokens and 3 labels for a model of images of 1x4x4 with a "
            "label a sample");
  EXPECT_EQ(bench.model->Evaluate({}).status().code(), absl::StatusCode::kInvalidArgument);
  std::vector<float> few(3);
  auto model = *CreateModel(TinyMlp());
  EXPECT_EQ(model->Bind(absl::MakeSpan(few), absl::MakeSpan(few), nullptr).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(TorchRuntimeTest, SaysWhatIsInForce) {
  const auto facts = ConfigureTorch(1);
  ASSERT_TRUE(facts.ok()) << facts.status();
  EXPECT_EQ(facts->at("threads"), "1");
  EXPECT_FALSE(facts->at("blas").empty());
  EXPECT_FALSE(facts->at("libtorch").empty());
  EXPECT_TRUE(ConfigureTorch(1).ok()) << "a second call";
}

TEST(TorchRuntimeTest, KernelsForBFloat16NeedAvx512) {
  std::ifstream cpuinfo("/proc/cpuinfo");
  const std::string text{std::istreambuf_iterator<char>(cpuinfo), {}};
  const bool has_avx512 = text.find(" avx512bw") != std::string::npos &&
                          text.find(" avx512vl") != std::string::npos &&
                          text.find(" avx512dq") != std::string::npos;
  EXPECT_EQ(HasBFloat16Kernels(), has_avx512);
}

}  // namespace
}  // namespace ringside
