// Whole models against the same in Python's torch.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/worker/models/model_bench.h"
#include "tests/worker/models/reference_exchange.h"

namespace ringside {
namespace {

using Sizes = std::map<std::string, std::string>;

// Python runs the same LibTorch where it is Debian's; others round elsewhere.
constexpr double kRelative = 2e-5;
// Where both round to bfloat16, whose relative precision is 2^-8, but not at the same places.
constexpr double kRelativeInHalf = 3e-2;

void ExpectBuffers(const Model& model, const NamedTensors& answer, double relative) {
  std::vector<float> floats(TotalElements(model.Buffers().floats));
  std::vector<int64_t> counters(TotalElements(model.Buffers().counters));
  ASSERT_TRUE(model.ReadBuffers(absl::MakeSpan(floats), absl::MakeSpan(counters)).ok());
  absl::Span<const float> rest = floats;
  for (const ParameterSpec& spec : model.Buffers().floats) {
    ExpectNear("b:" + spec.name, rest.subspan(0, spec.elements()), answer, relative);
    rest.remove_prefix(spec.elements());
  }
  for (size_t i = 0; i < counters.size(); ++i) {
    ExpectNear("b:" + model.Buffers().counters[i].name, {static_cast<float>(counters[i])}, answer,
               0);
  }
}

void ExpectEvaluation(const EvaluationSums& sums, const NamedTensors& answer, double relative) {
  // Scores that are nearly equal may change places.
  if (relative == kRelative) ExpectNear("correct", {static_cast<float>(sums.correct)}, answer, 0);
  ExpectNear("label_loss", {static_cast<float>(sums.label_loss)}, answer, relative);
  ExpectNear("sample_loss", {static_cast<float>(sums.loss)}, answer, relative);
}

void ExpectAgreement(const ModelConfig& config, Sizes sizes, int64_t batch_size,
                     double relative = kRelative) {
  SCOPED_TRACE(config.name);
  ModelBench bench(config, batch_size);
  std::vector<int64_t> input_shape = {batch_size, config.sample.length};
  if (config.sample.input == SampleShape::Input::kImage) {
    input_shape = {batch_size, config.sample.channels, config.sample.rows, config.sample.columns};
  }
  ReferenceRequest request;
  request.sizes = std::move(sizes);
  request.sizes["precision"] = config.precision == Precision::kBFloat16 ? "bf16" : "fp32";
  request.sizes["ignored"] = absl::StrCat(config.sample.ignored_label());
  request.tensors["input"] = {input_shape, bench.images, bench.tokens};
  std::vector<int64_t> label_shape = {batch_size};
  if (config.sample.label_elements() > 1) label_shape.push_back(config.sample.length);
  request.tensors["labels"] = {label_shape, {}, bench.labels};
  request.AddParameters(bench.model->Parameters(), bench.parameters->span());
  const NamedTensors answer = AskReference(request);
  if (testing::Test::HasFailure()) return;

  const double loss = bench.Loss();
  ASSERT_TRUE(bench.model->Backward(1).ok());
  ExpectNear("loss", {static_cast<float>(loss)}, answer, relative);
  absl::Span<const float> rest = bench.gradients->span();
  for (const ParameterSpec& spec : bench.model->Parameters()) {
    ExpectNear("g:" + spec.name, rest.subspan(0, spec.elements()), answer, relative);
    rest.remove_prefix(spec.elements());
  }
  ExpectBuffers(*bench.model, answer, relative);
  const auto sums = bench.model->Evaluate(bench.batch());
  ASSERT_TRUE(sums.ok()) << sums.status();
  ExpectEvaluation(*sums, answer, relative);
}

class ModelReferenceTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = NoReferenceBecause();
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
};

const Sizes& MlpSizes() {
  static const auto* const sizes =
      new Sizes{{"kind", "mlp"}, {"inputs", "16"}, {"hidden", "5,3"}, {"classes", "3"}};
  return *sizes;
}

const Sizes& LenetSizes() {
  static const auto* const sizes =
      new Sizes{{"kind", "lenet"}, {"channels", "1"}, {"features", "32"}, {"classes", "3"}};
  return *sizes;
}

const Sizes& Resnet18Sizes() {
  static const auto* const sizes =
      new Sizes{{"kind", "resnet"}, {"bottleneck", "0"}, {"blocks", "2,2,2,2"},
                {"width", "64"},    {"channels", "3"},   {"classes", "10"}};
  return *sizes;
}

const Sizes& TransformerSizes() {
  static const auto* const sizes =
      new Sizes{{"kind", "transformer"}, {"layers", "2"},      {"width", "12"},   {"heads", "3"},
                {"feedforward", "20"},   {"vocabulary", "11"}, {"sequence", "7"}, {"classes", "3"}};
  return *sizes;
}

const Sizes& GptSizes() {
  static const auto* const sizes =
      new Sizes{{"kind", "gpt"},       {"layers", "2"},      {"width", "12"},  {"heads", "3"},
                {"feedforward", "48"}, {"vocabulary", "13"}, {"sequence", "9"}};
  return *sizes;
}

ModelConfig InHalf(ModelConfig config) {
  config.precision = Precision::kBFloat16;
  return config;
}

TEST_F(ModelReferenceTest, Mlp) { ExpectAgreement(TinyMlp(), MlpSizes(), 5); }

TEST_F(ModelReferenceTest, Lenet) { ExpectAgreement(TinyLenet(), LenetSizes(), 5); }

TEST_F(ModelReferenceTest, Resnet18) { ExpectAgreement(SmallResnet18(), Resnet18Sizes(), 4); }

TEST_F(ModelReferenceTest, Vgg16) {
  ExpectAgreement(Configured("vgg16", "hidden=8,dropout=0", SampleShape::Image(3, 32, 32, 10)),
                  {{"kind", "vgg16"}, {"channels", "3"}, {"hidden", "8"}, {"classes", "10"}}, 2);
}

TEST_F(ModelReferenceTest, Transformer) {
  ExpectAgreement(TinyTransformer(), TransformerSizes(), 5);
}

// The scores of Python's are by token last, as its cross-entropy asks for.
TEST_F(ModelReferenceTest, Gpt) { ExpectAgreement(TinyGpt(), GptSizes(), 5); }

// The same operators in the same order, so autocast rounds at the same places.
TEST_F(ModelReferenceTest, InHalfPrecision) {
  ExpectAgreement(InHalf(TinyMlp()), MlpSizes(), 5);
  ExpectAgreement(InHalf(TinyLenet()), LenetSizes(), 5);
}

// Python's attention takes the softmax in bfloat16, and its decoder adds biases in float32.
TEST_F(ModelReferenceTest, AttentionInHalfPrecision) {
  ExpectAgreement(InHalf(TinyTransformer()), TransformerSizes(), 5, kRelativeInHalf);
  ExpectAgreement(InHalf(TinyGpt()), GptSizes(), 5, kRelativeInHalf);
}

}  // namespace
}  // namespace ringside
