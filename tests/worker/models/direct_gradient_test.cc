#include "worker/models/direct_gradient.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/worker/models/model_bench.h"
#include "worker/models/layers.h"

namespace ringside {
namespace {

std::vector<ModelConfig> ModelsWithLinearLayers() {
  return {TinyMlp(), TinyLenet(), TinyTransformer(), TinyGpt()};
}

// Of a mean over three samples and one over one.
std::vector<float> GradientsOfTwoMicroBatches(ModelBench* bench) {
  for (const auto& [begin, count] : {std::pair<int, int>{0, 3}, {3, 1}}) {
    EXPECT_TRUE(bench->model->Forward(bench->batch(begin, count)).ok());
    EXPECT_TRUE(bench->model->Backward(count / 4.0).ok());
  }
  bench->model->CompleteGradients();
  return bench->Gradients();
}

TEST(DirectGradientTest, ReplacesWhatStandsThereAndAddsToItAfterwards) {
  for (const ModelConfig& config : ModelsWithLinearLayers()) {
    ModelBench fresh(config);
    const std::vector<float> expected = GradientsOfTwoMicroBatches(&fresh);
    ModelBench used(config);
    used.Step(3);
    const absl::Span<float> gradients = used.gradients->span();
    std::fill(gradients.begin(), gradients.end(), 7.0f);
    used.model->ClearGradients();
    EXPECT_EQ(GradientsOfTwoMicroBatches(&used), expected) << config.name;
  }
}

TEST(DirectGradientTest, OfWeightsThatTookNoPartIsZeroWhenComplete) {
  for (const ModelConfig& config : ModelsWithLinearLayers()) {
    ModelBench bench(config);
    const absl::Span<float> gradients = bench.gradients->span();
    std::fill(gradients.begin(), gradients.end(), 7.0f);
    bench.model->ClearGradients();
    bench.model->CompleteGradients();
    EXPECT_EQ(bench.Gradients(), std::vector<float>(gradients.size())) << config.name;
  }
}

// One way against the other, over a batch in three dimensions.
TEST(DirectGradientTest, HasTheBitsOfLibTorchsOwn) {
  torch::manual_seed(1);
  const torch::Tensor values = torch::randn({3, 5, 7});
  const torch::Tensor bias = torch::randn({4}).requires_grad_();
  for (WeightLayout layout : {WeightLayout::kOutputsByInputs, WeightLayout::kInputsByOutputs}) {
    const bool inputs_first = layout == WeightLayout::kInputsByOutputs;
    const torch::Tensor start = inputs_first ? torch::randn({7, 4}) : torch::randn({4, 7});
    std::vector<torch::Tensor> results;
    for (bool direct : {false, true}) {
      const torch::Tensor inputs = values.clone().requires_grad_();
      torch::Tensor weight = start.clone().requires_grad_();
      bias.mutable_grad() = torch::Tensor();
      const auto gradient = c10::make_intrusive<DirectGradient>(weight);
      if (direct) {
        weight.mutable_grad() = torch::full_like(start, 7);
        gradient->Clear();
      }
      DirectLinear(inputs, bias, gradient, layout).square().sum().backward();
      for (const torch::Tensor& tensor : {weight.grad(), bias.grad(), inputs.grad()}) {
        results.push_back(tensor.clone());
      }
    }
    for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(results[i].equal(results[i + 3])) << i;
    const torch::Tensor expected =
        torch::linear(values, inputs_first ? start.t() : start, bias.detach());
    torch::NoGradGuard no_gradients;
    const auto gradient = c10::make_intrusive<DirectGradient>(start);
    EXPECT_TRUE(DirectLinear(values, bias, gradient, layout).allclose(expected));
  }
}

}  // namespace
}  // namespace ringside
