// Blocks of the architectures, and a small segmentation network, against the same in Python's
// torch; losses and dropout against what they are defined to be.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/worker/models/reference_exchange.h"
#include "worker/models/attention.h"
#include "worker/models/deeplab.h"
#include "worker/models/dropout.h"
#include "worker/models/gpt.h"
#include "worker/models/initial_values.h"
#include "worker/models/resnet.h"
#include "worker/models/scoring.h"
#include "worker/models/torch_model.h"
#include "worker/models/transformer.h"

namespace ringside {
namespace {

constexpr double kRelative = 2e-5;

torch::Tensor Waves(std::vector<int64_t> shape, double frequency) {
  int64_t elements = 1;
  for (int64_t extent : shape) elements *= extent;
  return torch::sin(frequency * torch::arange(elements, torch::kFloat32)).view(shape);
}

NamedTensor Named(const torch::Tensor& tensor) {
  const torch::Tensor flat = tensor.detach().contiguous();
  NamedTensor named;
  named.shape = flat.sizes().vec();
  if (flat.scalar_type() == torch::kInt64) {
    named.integers.assign(flat.data_ptr<int64_t>(), flat.data_ptr<int64_t>() + flat.numel());
  } else {
    named.floats.assign(flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel());
  }
  return named;
}

// Biases and scales, too, are no constants, so that each takes part.
void Initialise(torch::nn::Module* module) {
  torch::NoGradGuard no_gradients;
  int index = 0;
  for (const auto& item : module->named_parameters()) {
    InitialValues rule = HeInitialValues({item.key(), item.value().sizes().vec(), "float32"});
    if (item.value().dim() < 2) rule = {InitialValues::Kind::kUniform, 0.5};
    FillInitialValues(rule, index++, /*seed=*/1,
                      {item.value().data_ptr<float>(), static_cast<size_t>(item.value().numel())});
  }
}

class BlockReferenceTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = NoReferenceBecause();
    if (!reason.empty()) GTEST_SKIP() << reason;
  }

  void ExpectAgreement(torch::nn::Module* module, std::map<std::string, std::string> sizes,
                       std::vector<int64_t> input_shape,
                       const std::function<torch::Tensor(const torch::Tensor&)>& forward) {
    SCOPED_TRACE(sizes["kind"]);
    Initialise(module);
    const torch::Tensor input = Waves(std::move(input_shape), 0.7);
    const torch::Tensor output = forward(input);
    const torch::Tensor probe = Waves(output.sizes().vec(), 1.3);
    (output * probe).sum().backward();

    ReferenceRequest request;
    request.sizes = std::move(sizes);
    request.tensors["input"] = Named(input);
    request.tensors["probe"] = Named(probe);
    for (const auto& item : module->named_parameters()) {
      request.tensors["p:" + item.key()] = Named(item.value());
    }
    const NamedTensors answer = AskReference(request);
    if (HasFailure()) return;
    ExpectNear("output", Named(output).floats, answer, kRelative);
    for (const auto& item : module->named_parameters()) {
      ExpectNear("g:" + item.key(), Named(item.value().grad()).floats, answer, kRelative);
    }
    for (const auto& item : module->named_buffers()) {
      ExpectNear("b:" + item.key(), Named(item.value().to(torch::kFloat32)).floats, answer,
                 kRelative);
    }
  }
};

TEST_F(BlockReferenceTest, ResidualBlocks) {
  const auto check = [this](bool bottleneck, int inputs, int width, int stride, int dilation) {
    ResidualBlock block(bottleneck, inputs, width, stride, dilation);
    ExpectAgreement(&block,
                    {{"kind", bottleneck ? "bottleneck" : "basic_block"},
                     {"inputs", absl::StrCat(inputs)},
                     {"width", absl::StrCat(width)},
                     {"stride", absl::StrCat(stride)},
                     {"dilation", absl::StrCat(dilation)}},
                    {3, inputs, 9, 10},
                    [&](const torch::Tensor& input) { return block.forward(input); });
  };
  check(false, 8, 8, 1, 1);
  check(false, 4, 8, 2, 1);
  check(true, 8, 4, 2, 1);
  check(true, 16, 4, 1, 2);
}

TEST_F(BlockReferenceTest, PyramidPooling) {
  Aspp block(6);
  Dropout none;
  ExpectAgreement(&block, {{"kind", "aspp"}, {"inputs", "6"}}, {2, 6, 14, 15},
                  [&](const torch::Tensor& input) { return block.forward(input, 0, &none); });
}

TransformerSize SmallSize() {
  TransformerSize size;
  size.width = 12;
  size.heads = 3;
  size.feedforward = 20;
  return size;
}

TEST_F(BlockReferenceTest, EncoderLayer) {
  EncoderLayer block(SmallSize());
  Dropout none;
  torch::Tensor mask = torch::zeros({2, 1, 1, 7});
  mask.narrow(3, 5, 2).fill_(-INFINITY);
  ExpectAgreement(
      &block, {{"kind", "encoder_layer"}, {"width", "12"}, {"heads", "3"}, {"feedforward", "20"}},
      {2, 7, 12}, [&](const torch::Tensor& input) { return block.forward(input, mask, &none); });
}

TEST_F(BlockReferenceTest, GptBlock) {
  GptBlock block(SmallSize());
  Dropout none;
  ExpectAgreement(
      &block, {{"kind", "gpt_block"}, {"width", "12"}, {"heads", "3"}, {"feedforward", "20"}},
      {2, 7, 12},
      [&](const torch::Tensor& input) { return block.forward(input, CausalMask(7), &none); });
}

// A whole network of bottlenecks, with labels a pixel, a part of them ignored.
void ExpectDeeplabAgrees(Precision precision) {
  const SampleShape shape = SampleShape::Segmentation(3, 33, 40, 4);
  ResnetLayout layout{true, {1, 2, 2, 2}, 4};
  TorchModel model(std::make_shared<Deeplab>(layout, 3, 4, /*dropout=*/0), shape, /*seed=*/1,
                   precision);
  const int64_t elements = TotalElements(model.Parameters());
  std::vector<float> parameters(elements), gradients(elements);
  ASSERT_TRUE(model.Bind(absl::MakeSpan(parameters), absl::MakeSpan(gradients), [](int) {}).ok());
  const torch::Tensor images = Waves({3, 3, 33, 40}, 0.7);
  const torch::Tensor places = torch::arange(3 * 33 * 40, torch::kInt64);
  const torch::Tensor labels =
      torch::where(places.remainder(5).eq(0).logical_or(places.lt(1000)),
                   torch::full({}, kIgnoredPixel, torch::kInt64), places.floor_divide(3) % 4)
          .view({3, 33, 40});
  ReferenceRequest request;
  request.sizes = {{"kind", "deeplab"}, {"blocks", "1,2,2,2"}, {"width", "4"},
                   {"channels", "3"},   {"classes", "4"},      {"ignored", "255"}};
  request.sizes["precision"] = precision == Precision::kBFloat16 ? "bf16" : "fp32";
  request.tensors["input"] = Named(images);
  request.tensors["labels"] = Named(labels);
  request.AddParameters(model.Parameters(), parameters);
  const NamedTensors answer = AskReference(request);
  if (testing::Test::HasFailure()) return;

  const NamedTensor own_images = Named(images), own_labels = Named(labels);
  const Batch batch = {own_images.floats, own_labels.integers, {}, shape.label_elements(), 0};
  EXPECT_EQ(batch.size(), 3);
  const auto loss = model.Forward(batch);
  ASSERT_TRUE(loss.ok()) << loss.status();
  ASSERT_TRUE(model.Backward(1).ok());
  ExpectNear("loss", {static_cast<float>(*loss)}, answer, kRelative);
  absl::Span<const float> rest = gradients;
  for (const ParameterSpec& spec : model.Parameters()) {
    ExpectNear("g:" + spec.name, rest.subspan(0, spec.elements()), answer, 1e-4);
    rest.remove_prefix(spec.elements());
  }
  const auto sums = model.Evaluate(batch);
  ASSERT_TRUE(sums.ok()) << sums.status();
  ExpectNear("correct", {static_cast<float>(sums->correct)}, answer, 0);
  ExpectNear("sample_loss", {static_cast<float>(sums->loss)}, answer, kRelative);
  ExpectNear("label_loss", {static_cast<float>(sums->label_loss)}, answer, kRelative);
  const auto floats = [](const std::vector<int64_t>& counts) {
    return std::vector<float>(counts.begin(), counts.end());
  };
  ExpectNear("intersections", floats(sums->intersections), answer, 0);
  ExpectNear("unions", floats(sums->unions), answer, 0);
}

TEST_F(BlockReferenceTest, Deeplab) { ExpectDeeplabAgrees(Precision::kFloat32); }

TEST_F(BlockReferenceTest, DeeplabInHalfPrecision) { ExpectDeeplabAgrees(Precision::kBFloat16); }

TEST(ScoringTest, PixelsAreAveragedInsideASample) {
  const SampleShape shape = SampleShape::Segmentation(1, 2, 2, 3);
  const torch::Tensor scores = Waves({3, 3, 2, 2}, 1.1).requires_grad_();
  torch::Tensor labels =
      torch::tensor({0, 255, 255, 255, 2, 1, 0, 2, 255, 255, 255, 255}, torch::kInt64)
          .view({3, 2, 2});
  const torch::Tensor loss = MeanLoss(scores, labels, shape);
  const torch::Tensor log_odds = torch::log_softmax(scores, 1);
  const auto score = [&](int sample, int label, int row, int column) {
    return log_odds[sample][label][row][column].item<float>();
  };
  const float first = -score(0, 0, 0, 0);
  const float second =
      -(score(1, 2, 0, 0) + score(1, 1, 0, 1) + score(1, 0, 1, 0) + score(1, 2, 1, 1)) / 4;
  EXPECT_NEAR(loss.item<float>(), (first + second + 0) / 3, 1e-6);
  loss.backward();
  EXPECT_TRUE(scores.grad().isfinite().all().item<bool>());
  EXPECT_EQ(scores.grad()[2].abs().sum().item<float>(), 0) << "a sample of ignored pixels";

  torch::NoGradGuard no_gradients;
  const EvaluationSums sums = Evaluation(scores, labels, shape);
  EXPECT_EQ(sums.samples, 3);
  EXPECT_EQ(sums.labels, 5);
  EXPECT_NEAR(sums.loss, first + second, 1e-5);
  EXPECT_NEAR(sums.label_loss, first + 4 * second, 1e-5);
}

TEST(DropoutTest, DropsWithItsProbabilityAndKeepsTheMean) {
  const torch::Tensor ones = torch::ones({99, 1001});
  Dropout dropout(7);
  const torch::Tensor first = dropout.Apply(ones, 0.2);
  EXPECT_NEAR(first.eq(0).to(torch::kFloat32).mean().item<float>(), 0.2, 0.005);
  EXPECT_NEAR(first.mean().item<float>(), 1, 0.01);
  EXPECT_EQ(first.max().item<float>(), 1.25f);
  EXPECT_FALSE(first.equal(dropout.Apply(ones, 0.2))) << "each call draws anew";
  Dropout same(7);
  EXPECT_TRUE(first.equal(same.Apply(ones, 0.2)));
  // The layout in memory has no part in it.
  Dropout transposed(7);
  EXPECT_TRUE(first.equal(transposed.Apply(ones.t().contiguous().t(), 0.2)));
  Dropout none;
  EXPECT_TRUE(none.Apply(ones, 0.2).is_same(ones));
}

TEST(DropoutTest, LeavesTheGlobalGeneratorAlone) {
  torch::manual_seed(1);
  const torch::Tensor undisturbed = torch::rand({4});
  torch::manual_seed(1);
  Dropout(3).Apply(torch::ones({100}), 0.5);
  EXPECT_TRUE(torch::rand({4}).equal(undisturbed));
}

}  // namespace
}  // namespace ringside
