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

void ExpectBuffers(const Model& model, const NamedTensors& answer) {
  std::vector<float> floats(TotalElements(model.Buffers().floats));
  std::vector<int64_t> counters(TotalElements(model.Buffers().counters));
  ASSERT_TRUE(model.ReadBuffers(absl::MakeSpan(floats), absl::MakeSpan(counters)).ok());
  absl::Span<const float> rest = floats;
  for (const ParameterSpec& spec : model.Buffers().floats) {
    ExpectNear("b:" + spec.name, rest.subspan(0, spec.elements()), answer, kRelative);
    rest.remove_prefix(spec.elements());
  }
  for (size_t i = 0; i < counters.size(); ++i) {
    ExpectNear("b:" + model.Buffers().counters[i].name, {static_cast<float>(counters[i])}, answer,
               0);
  }
}

void ExpectEvaluation(const EvaluationSums& sums, const NamedTensors& answer) {
  ExpectNear("correct", {static_cast<float>(sums.correct)}, answer, 0);
  ExpectNear("label_loss", {static_cast<float>(sums.label_loss)}, answer, kRelative);
  ExpectNear("sample_loss", {static_cast<float>(sums.loss)}, answer, kRelative);
}

void ExpectAgreement(const ModelConfig& config, Sizes sizes, int64_t batch_size) {
  SCOPED_TRACE(config.name);
  ModelBench bench(config, batch_size);
  std::vector<int64_t> input_shape = {batch_size, config.sample.length};
  if (config.sample.input == SampleShape::Input::kImage) {
    input_shape = {batch_size, config.sample.channels, config.sample.rows, config.sample.columns};
  }
  ReferenceRequest request;
  request.sizes = std::move(sizes);
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
  ExpectNear("loss", {static_cast<float>(loss)}, answer, kRelative);
  absl::Span<const float> rest = bench.gradients->span();
  for (const ParameterSpec& spec : bench.model->Parameters()) {
    ExpectNear("g:" + spec.name, rest.subspan(0, spec.elements()), answer, kRelative);
    rest.remove_prefix(spec.elements());
  }
  ExpectBuffers(*bench.model, answer);
  const auto sums = bench.model->Evaluate(bench.batch());
  ASSERT_TRUE(sums.ok()) << sums.status();
  ExpectEvaluation(*sums, answer);
}

class ModelReferenceTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = NoReferenceBecause();
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
};

TEST_F(ModelReferenceTest, Mlp) {
  ExpectAgreement(TinyMlp(),
                  {{"kind", "mlp"}, {"inputs", "16"}, {"hidden", "5,3"}, {"classes", "3"}}, 5);
}

TEST_F(ModelReferenceTest, Lenet) {
  ExpectAgreement(TinyLenet(),
                  {{"kind", "lenet"}, {"channels", "1"}, {"features", "32"}, {"classes", "3"}}, 5);
}

TEST_F(ModelReferenceTest, Resnet18) {
  ExpectAgreement(SmallResnet18(),
                  {{"kind", "resnet"},
                   {"bottleneck", "0"},
                   {"blocks", "2,2,2,2"},
                   {"width", "64"},
                   {"channels", "3"},
                   {"classes", "10"}},
                  4);
}

TEST_F(ModelReferenceTest, Vgg16) {
  ExpectAgreement(Configured("vgg16", "hidden=8,dropout=0", SampleShape::Image(3, 32, 32, 10)),
                  {{"kind", "vgg16"}, {"channels", "3"}, {"hidden", "8"}, {"classes", "10"}}, 2);
}

TEST_F(ModelReferenceTest, Transformer) {
  ExpectAgreement(TinyTransformer(),
                  {{"kind", "transformer"},
                   {"layers", "2"},
                   {"width", "12"},
                   {"heads", "3"},
                   {"feedforward", "20"},
                   {"vocabulary", "11"},
                   {"sequence", "7"},
                   {"classes", "3"}},
                  5);
}

TEST_F(ModelReferenceTest, Gpt) {
  // The scores of Python's are by token last, as its cross-entropy asks for.
  ExpectAgreement(TinyGpt(),
                  {{"kind", "gpt"},
                   {"layers", "2"},
                   {"width", "12"},
                   {"heads", "3"},
                   {"feedforward", "48"},
                   {"vocabulary", "13"},
                   {"sequence", "9"}},
                  5);
}

}  // namespace
}  // namespace ringside
