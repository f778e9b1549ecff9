#include "worker/models/shapes_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "common/shape_presets.h"

namespace ringside {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A clock that stands still but for what is awaited.
struct FakePace {
  ComputePace pace() {
    return {[this] { return now; },
            [this](absl::Duration until) {
              if (until > now) now = until;
            }};
  }
  absl::Duration now = absl::Seconds(100);
};

ShapesModel::Config Tiny(FakePace* pace) {
  ShapesModel::Config config;
  config.shapes = {{"a", {5, 4}}, {"b", {20}}, {"c", {2, 10, 1}}};
  config.compute = absl::Milliseconds(90);
  config.pace = pace->pace();
  return config;
}

Batch Labelled(absl::Span<const int64_t> labels) {
  Batch batch;
  batch.labels = labels;
  return batch;
}

// One step of a model of its own.
std::vector<float> Gradients(ShapesModel::Config config, std::vector<int64_t> labels,
                             double weight) {
  ShapesModel model(std::move(config));
  std::vector<float> parameters(60);
  std::vector<float> gradients(60);
  EXPECT_TRUE(model.Bind(absl::MakeSpan(parameters), absl::MakeSpan(gradients), [](int) {}).ok());
  EXPECT_EQ(*model.Forward(Labelled(labels)), 0);
  EXPECT_TRUE(model.Backward(weight).ok());
  return gradients;
}

TEST(ShapesModelTest, ParametersBecomeReadyLastFirstByTheirShareOfTheTime) {
  FakePace clock;
  ShapesModel model(Tiny(&clock));
  std::vector<float> parameters(60);
  std::vector<float> gradients(60);
  std::vector<int> order;
  std::vector<absl::Duration> times;
  const auto ready = [&](int parameter) {
    order.push_back(parameter);
    times.push_back(clock.now);
    // What is not ready is not written either.
    const size_t first = static_cast<size_t>(parameter) * 20;
    for (size_t i = 0; i < first; ++i) EXPECT_EQ(gradients[i], 0);
    EXPECT_NE(gradients[first], 0);
  };
  ASSERT_TRUE(model.Bind(absl::MakeSpan(parameters), absl::MakeSpan(gradients), ready).ok());
  const absl::Duration begin = clock.now;
  const std::vector<int64_t> labels = {3, 1, 4};
  ASSERT_TRUE(model.Forward(Labelled(labels)).ok());
  EXPECT_EQ(clock.now - begin, absl::Milliseconds(30));
  ASSERT_TRUE(model.Backward(1).ok());
  EXPECT_THAT(order, ElementsAre(2, 1, 0));
  EXPECT_THAT(times, ElementsAre(begin + absl::Milliseconds(50), begin + absl::Milliseconds(70),
                                 begin + absl::Milliseconds(90)));
}

TEST(ShapesModelTest, GradientsFollowFromSeedAndLabelsAlone) {
  FakePace clock;
  const std::vector<float> values = Gradients(Tiny(&clock), {3, 1, 4}, 1);
  EXPECT_EQ(Gradients(Tiny(&clock), {3, 1, 4}, 1), values);
  EXPECT_NE(Gradients(Tiny(&clock), {3, 4, 1}, 1), values);
  ShapesModel::Config other = Tiny(&clock);
  other.seed = 2;
  EXPECT_NE(Gradients(other, {3, 1, 4}, 1), values);
  for (float value : values) EXPECT_LE(std::abs(value), 1.0f / 64);
  EXPECT_GT(std::set<float>(values.begin(), values.end()).size(), 50u);
}

TEST(ShapesModelTest, GradientsAreWeighedAndAdded) {
  FakePace clock;
  const std::vector<float> whole = Gradients(Tiny(&clock), {3, 1, 4}, 1);
  const std::vector<float> quarter = Gradients(Tiny(&clock), {3, 1, 4}, 0.25);
  ShapesModel model(Tiny(&clock));
  std::vector<float> parameters(60);
  std::vector<float> sums(60, 1.0f);
  ASSERT_TRUE(model.Bind(absl::MakeSpan(parameters), absl::MakeSpan(sums), [](int) {}).ok());
  const std::vector<int64_t> labels = {3, 1, 4};
  ASSERT_TRUE(model.Forward(Labelled(labels)).ok());
  ASSERT_TRUE(model.Backward(1).ok());
  for (size_t i = 0; i < whole.size(); ++i) {
    EXPECT_EQ(quarter[i], 0.25f * whole[i]);
    EXPECT_EQ(sums[i], 1.0f + whole[i]);
  }
}

TEST(ShapesModelTest, InitialValuesFollowFromTheSeedWhateverStoodThere) {
  FakePace clock;
  ShapesModel::Config large = Tiny(&clock);
  large.shapes = {{"a", {100, 100}}};
  std::vector<float> a(10000, 7.0f);
  std::vector<float> b(10000);
  std::vector<float> gradients(10000);
  ASSERT_TRUE(ShapesModel(large).Bind(absl::MakeSpan(a), absl::MakeSpan(gradients), {}).ok());
  ASSERT_TRUE(ShapesModel(large).Bind(absl::MakeSpan(b), absl::MakeSpan(gradients), {}).ok());
  EXPECT_EQ(a, b);
  EXPECT_THAT(gradients, Each(0.0f));
  // Values a power of two apart must not be the same, or a misplaced chunk would go unseen.
  for (size_t distance = 1; distance < a.size(); distance *= 2) EXPECT_NE(a[0], a[distance]);
  EXPECT_EQ(ShapesModel(large)
                .Bind(absl::MakeSpan(a).subspan(1), absl::MakeSpan(gradients), {})
                .message(),
            "a buffer of 9999 elements, but the shapes have 10000");
}

TEST(ShapesModelTest, EvaluatesNothing) {
  FakePace clock;
  const std::vector<int64_t> labels = {3, 1, 4};
  const auto sums = ShapesModel(Tiny(&clock)).Evaluate(Labelled(labels));
  ASSERT_TRUE(sums.ok());
  EXPECT_EQ(sums->samples, 3);
  EXPECT_EQ(sums->correct, 0);
}

TEST(ShapesModelTest, IsMadeFromArguments) {
  const auto model = ShapesModel::Create("preset=resnet18,compute_ms=0.5,compute=spin,seed=3", 1);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(TotalElements((*model)->Parameters()), 11689512);
  const auto message = [](const std::string& arguments) {
    return std::string(ShapesModel::Create(arguments, 1).status().message());
  };
  EXPECT_EQ(message("compute_ms=1"),
            "--model_args=compute_ms=1: --model=shapes needs exactly one of file=PATH and "
            "preset=NAME");
  EXPECT_THAT(message("preset=gpt2,file=x"), HasSubstr("exactly one of"));
  EXPECT_THAT(message("preset=gpt9"), HasSubstr("--model_args=preset=gpt9: must be one of resnet"));
  EXPECT_THAT(message("preset=gpt2,compute_ms=-1"), HasSubstr("at least 0"));
  EXPECT_THAT(message("preset=gpt2,compute_ms=nan"), HasSubstr("compute_ms=nan: must be"));
  EXPECT_THAT(message("preset=gpt2,compute=idle"), HasSubstr("must be one of sleep, spin"));
  EXPECT_THAT(message("preset=gpt2,ms=1"), HasSubstr("ms=1: unknown"));
  EXPECT_THAT(message("file=/nowhere/shapes.txt"),
              HasSubstr("file=/nowhere/shapes.txt: cannot be read: No such file"));
}

// Against the real clock: neither may come back early.
TEST(ComputePaceTest, AwaitsAndReturnsAtOnceWhereTheTimeIsOver) {
  for (const ComputePace& pace : {SleepingPace(), SpinningPace()}) {
    const absl::Duration begin = pace.now();
    pace.await(begin + absl::Milliseconds(3));
    EXPECT_GE(pace.now() - begin, absl::Milliseconds(3));
    pace.await(begin - absl::Seconds(1));
    pace.await(absl::ZeroDuration());
  }
}

}  // namespace
}  // namespace ringside
