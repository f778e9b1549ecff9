#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "tests/worker/models/model_bench.h"
#include "worker/models/dropout_seed.h"
#include "worker/models/model_factory.h"

namespace ringside {
namespace {

// Along the gradient g the loss grows by |g|^2 a unit.
TEST(ModelBehaviourTest, TheLossFallsAsTheGradientSays) {
  // Of 64x64 pixels, so that the last statistics are over more than one pixel an image.
  const ModelConfig resnet = Configured("resnet18", "", SampleShape::Image(3, 64, 64, 10));
  for (const ModelConfig& config : {TinyMlp(), TinyLenet(), TinyTransformer(), TinyGpt(), resnet}) {
    SCOPED_TRACE(config.name);
    ModelBench bench(config, 5);
    bench.Step(1);
    const std::vector<float> gradients = bench.Gradients();
    double squares = 0;
    for (float value : gradients) squares += static_cast<double>(value) * value;
    ASSERT_GT(squares, 0);
    const double size = 1.5e-4 / std::sqrt(squares);
    const absl::Span<float> parameters = bench.parameters->span();
    const std::vector<float> middle(parameters.begin(), parameters.end());
    double losses[2];
    for (int side : {0, 1}) {
      for (size_t i = 0; i < middle.size(); ++i) {
        parameters[i] = static_cast<float>(middle[i] + (side == 0 ? -size : size) * gradients[i]);
      }
      losses[side] = bench.Loss();
    }
    EXPECT_NEAR((losses[1] - losses[0]) / (2 * size * squares), 1, 0.05);
  }
}

TEST(ModelBehaviourTest, EveryParameterIsReadyOnce) {
  for (const ModelConfig& config : {TinyTransformer(0.2), TinyGpt(0.2), SmallResnet18()}) {
    SCOPED_TRACE(config.name);
    ModelBench bench(config);
    bench.Step(1);
    const int count = static_cast<int>(bench.model->Parameters().size());
    ASSERT_EQ(static_cast<int>(bench.ready.size()), count);
    std::vector<int> sorted = bench.ready;
    std::sort(sorted.begin(), sorted.end());
    for (int i = 0; i < count; ++i) EXPECT_EQ(sorted[i], i);
    // The tied embedding of the gpt is the first layer and the last.
    EXPECT_GE(bench.ready.front(), count - 2);
    EXPECT_LE(bench.ready.back(), 2);
  }
}

struct Outcome {
  double loss = 0;
  std::vector<float> gradients;
};

Outcome StepWith(const ModelConfig& config, uint64_t dropout_seed) {
  ModelBench bench(config);
  bench.dropout_seed = dropout_seed;
  bench.Step(1);
  bench.ready.clear();
  Outcome outcome;
  outcome.gradients = bench.Gradients();
  outcome.loss = bench.Loss();
  return outcome;
}

TEST(DropoutTest, DependsOnTheSeedAloneOnAnyThread) {
  for (const ModelConfig& config : {TinyTransformer(0.3), TinyGpt(0.3)}) {
    SCOPED_TRACE(config.name);
    const Outcome here = StepWith(config, DropoutSeed(1, 2, 3, 4));
    Outcome there;
    std::thread([&] { there = StepWith(config, DropoutSeed(1, 2, 3, 4)); }).join();
    EXPECT_EQ(here.loss, there.loss);
    EXPECT_EQ(here.gradients, there.gradients);
    const Outcome other = StepWith(config, DropoutSeed(1, 2, 3, 5));
    EXPECT_NE(here.loss, other.loss);
    EXPECT_NE(here.gradients, other.gradients);
  }
}

TEST(DropoutTest, EvaluationHasNone) {
  for (const ModelConfig& config : {TinyTransformer(0.3), TinyGpt(0.3)}) {
    ModelBench bench(config);
    const auto first = bench.model->Evaluate(bench.batch());
    bench.Step(1);
    bench.dropout_seed = 9;
    const auto second = bench.model->Evaluate(bench.batch());
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_EQ(first->loss, second->loss);
    EXPECT_NE(first->loss, 4 * bench.Loss());
  }
}

struct BufferValues {
  explicit BufferValues(const Model& model)
      : floats(TotalElements(model.Buffers().floats)),
        counters(TotalElements(model.Buffers().counters)) {
    EXPECT_TRUE(model.ReadBuffers(absl::MakeSpan(floats), absl::MakeSpan(counters)).ok());
  }
  friend bool operator==(const BufferValues& a, const BufferValues& b) {
    return a.floats == b.floats && a.counters == b.counters;
  }

  std::vector<float> floats;
  std::vector<int64_t> counters;
};

TEST(BuffersTest, MoveInTrainingOnlyAndTravel) {
  ModelBench bench(SmallResnet18());
  const BufferValues before(*bench.model);
  EXPECT_EQ(before.counters, std::vector<int64_t>(20, 0));
  EXPECT_EQ(before.floats[0], 0) << "a mean";
  EXPECT_EQ(before.floats[64], 1) << "a variance";
  bench.Step(1);
  const BufferValues after(*bench.model);
  EXPECT_EQ(after.counters, std::vector<int64_t>(20, 1));
  EXPECT_NE(after.floats, before.floats);
  const auto evaluated = bench.model->Evaluate(bench.batch());
  ASSERT_TRUE(evaluated.ok()) << evaluated.status();
  EXPECT_TRUE(BufferValues(*bench.model) == after);

  ModelBench other(SmallResnet18());
  EXPECT_NE(other.model->Evaluate(other.batch())->loss, evaluated->loss);
  ASSERT_TRUE(other.model->WriteBuffers(after.floats, after.counters).ok());
  EXPECT_TRUE(BufferValues(*other.model) == after);
  EXPECT_EQ(other.model->Evaluate(other.batch())->loss, evaluated->loss);
}

TEST(BuffersTest, LengthsAreChecked) {
  ModelBench resnet(SmallResnet18());
  BufferValues values(*resnet.model);
  values.floats.pop_back();
  EXPECT_EQ(resnet.model->WriteBuffers(values.floats, values.counters).message(),
            "a model with buffers of 9600 floats and 20 counters was given room for 9599 floats "
            "and 20 counters");
  const ModelBench mlp(TinyMlp());
  EXPECT_TRUE(mlp.model->Buffers().floats.empty());
  EXPECT_TRUE(mlp.model->ReadBuffers({}, {}).ok());
  EXPECT_EQ(mlp.model->ReadBuffers(absl::MakeSpan(values.floats), {}).code(),
            absl::StatusCode::kInvalidArgument);
}

// A checkpoint has those of rank 0 alone.
TEST(BatchNormTest, ASingleValueHasNothingToDoWithTheRunningStatistics) {
  // 32x32 leaves one pixel for the last stage.
  ModelBench bench(SmallResnet18(), 1);
  bench.Step(1);
  for (float value : bench.Gradients()) ASSERT_TRUE(std::isfinite(value));
  const BufferValues after(*bench.model);
  for (float value : after.floats) ASSERT_TRUE(std::isfinite(value));
  EXPECT_EQ(after.counters.front(), 1);
  EXPECT_EQ(after.counters.back(), 0);

  BufferValues others = after;
  for (float& value : others.floats) value = 3 * value + 1;
  ModelBench other(SmallResnet18(), 1);
  ASSERT_TRUE(
      other.model
          ->WriteBuffers(absl::MakeConstSpan(others.floats), absl::MakeConstSpan(others.counters))
          .ok());
  other.Step(1);
  EXPECT_EQ(other.Gradients(), bench.Gradients());
}

TEST(ResnetTest, GreyImagesAreRepeated) {
  ModelBench grey(Configured("resnet18", "channels=3", SampleShape::Image(1, 16, 16, 10)), 2);
  ModelBench colour(Configured("resnet18", "", SampleShape::Image(3, 16, 16, 10)), 2);
  colour.images.clear();
  for (int sample : {0, 1}) {
    for (int channel = 0; channel < 3; ++channel) {
      const auto from = grey.images.begin() + 256 * sample;
      colour.images.insert(colour.images.end(), from, from + 256);
    }
  }
  EXPECT_EQ(grey.Loss(), colour.Loss());
}

TEST(LanguageTest, TokensAreAveragedInsideASample) {
  ModelBench whole(TinyGpt(), 3);
  // Sample 0 has one label that counts, sample 1 none.
  for (int i = 0; i < 12; ++i) {
    if (i != 2) whole.labels[i] = kIgnoredToken;
  }
  whole.Step(1);
  ModelBench parts(TinyGpt(), 3);
  parts.labels = whole.labels;
  double losses[3];
  for (int sample : {0, 1, 2}) {
    losses[sample] = *parts.model->Forward(parts.batch(sample, 1));
    ASSERT_TRUE(parts.model->Backward(1 / 3.0).ok());
  }
  EXPECT_EQ(losses[1], 0);
  EXPECT_GT(losses[0], 0);
  EXPECT_NEAR(whole.Loss(), (losses[0] + losses[2]) / 3, 1e-6);
  for (size_t i = 0; i < parts.Gradients().size(); ++i) {
    ASSERT_NEAR(parts.gradients->span()[i], whole.gradients->span()[i], 1e-6);
  }
  const auto sums = whole.model->Evaluate(whole.batch());
  ASSERT_TRUE(sums.ok()) << sums.status();
  EXPECT_EQ(sums->samples, 3);
  EXPECT_EQ(sums->labels, 1 + 3);
  EXPECT_NEAR(sums->loss, losses[0] + losses[2], 1e-5);
  EXPECT_NEAR(sums->label_loss, losses[0] + 3 * losses[2], 1e-5);
  EXPECT_TRUE(sums->unions.empty());
}

TEST(LanguageTest, NoTokenSeesALaterOne) {
  ModelBench bench(TinyGpt(), 1);
  bench.labels.assign(6, kIgnoredToken);
  bench.labels[3] = 5;
  const double loss = bench.Loss();
  bench.tokens[4] = (bench.tokens[4] + 1) % 13;
  bench.tokens[5] = (bench.tokens[5] + 1) % 13;
  EXPECT_EQ(bench.Loss(), loss);
  bench.tokens[3] = (bench.tokens[3] + 1) % 13;
  EXPECT_NE(bench.Loss(), loss);
}

TEST(TransformerTest, PaddingCountsNowhere) {
  const std::string sizes = "layers=2,width=12,heads=3,dropout=0,sequence=9";
  ModelBench bench(Configured("transformer", sizes, SampleShape::Text(5, 11, 3)), 1);
  ModelBench longer(Configured("transformer", sizes, SampleShape::Text(9, 11, 3)), 1);
  bench.tokens = {3, 1, 4, 1, 5};
  longer.tokens = {3, 1, 4, 1, 5, 0, 0, 0, 0};
  EXPECT_NEAR(bench.Loss(), longer.Loss(), 1e-6);
  longer.tokens.assign(9, kPaddingToken);
  longer.Step(1);
  for (float value : longer.Gradients()) ASSERT_TRUE(std::isfinite(value));
}

}  // namespace
}  // namespace ringside
