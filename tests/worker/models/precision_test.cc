// --precision=bf16: what changes, what does not, and whom it concerns. Against Python's autocast:
// model_reference_test.cc.
#include "worker/models/precision.h"

#include <ATen/autocast_mode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "tests/worker/models/model_bench.h"
#include "worker/models/autocast.h"

namespace ringside {
namespace {

ModelConfig In(Precision precision, ModelConfig config) {
  config.precision = precision;
  return config;
}
ModelConfig InHalf(const ModelConfig& config) { return In(Precision::kBFloat16, config); }

// Products, convolutions, attention, a tied embedding. Running statistics: block_reference_test.cc.
std::vector<ModelConfig> Models() { return {TinyMlp(), TinyLenet(), TinyTransformer(), TinyGpt()}; }

std::vector<int> Sorted(std::vector<int> values) {
  std::sort(values.begin(), values.end());
  return values;
}

double Norm(const std::vector<float>& values) {
  double squares = 0;
  for (float value : values) squares += static_cast<double>(value) * value;
  return std::sqrt(squares);
}

// |a - b| / |b|
double RelativeDistance(const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> difference(a.size());
  for (size_t i = 0; i < a.size(); ++i) difference[i] = a[i] - b[i];
  return Norm(difference) / Norm(b);
}

TEST(PrecisionTest, IsNamedByItsFlag) {
  EXPECT_EQ(*ParsePrecision("fp32"), Precision::kFloat32);
  EXPECT_EQ(*ParsePrecision("bf16"), Precision::kBFloat16);
  EXPECT_EQ(ParsePrecision("fp64").status().message(),
            "--precision=fp64: must be one of fp32, bf16");
}

TEST(PrecisionTest, RoundsWhatIsComputedALittle) {
  for (const ModelConfig& config : Models()) {
    SCOPED_TRACE(config.name);
    ModelBench full(config), half(InHalf(config));
    ASSERT_EQ(full.parameters->span(), half.parameters->span());
    const double loss = full.Loss();
    EXPECT_NE(half.Loss(), loss);
    EXPECT_NEAR(half.Loss(), loss, 0.01 * loss);
    full.Step(1);
    half.Step(1);
    EXPECT_EQ(Sorted(half.ready), Sorted(full.ready));
    for (float gradient : half.Gradients()) ASSERT_TRUE(std::isfinite(gradient));
    EXPECT_NE(half.Gradients(), full.Gradients());
    // Without kernels of the CPU for it, convolutions add up in bfloat16, too.
    EXPECT_LT(RelativeDistance(half.Gradients(), full.Gradients()),
              config.name == "lenet" ? 0.25 : 0.05);
    EXPECT_EQ(full.parameters->span(), half.parameters->span()) << "they are never rounded";
  }
}

TEST(PrecisionTest, EvaluationHasItToo) {
  for (const ModelConfig& config : Models()) {
    SCOPED_TRACE(config.name);
    ModelBench full(config), half(InHalf(config));
    const auto of_full = full.model->Evaluate(full.batch());
    const auto of_half = half.model->Evaluate(half.batch());
    ASSERT_TRUE(of_full.ok() && of_half.ok());
    EXPECT_NE(of_half->loss, of_full->loss);
    // Without dropout and running statistics it computes what training computes.
    EXPECT_NEAR(of_half->loss, 4 * half.Loss(), 1e-5 * of_half->loss);
  }
}

// A weight that was rounded once must not be taken for what stands there later.
TEST(PrecisionTest, NewParametersAreSeenAtOnce) {
  for (const ModelConfig& config : Models()) {
    SCOPED_TRACE(config.name);
    ModelBench used(InHalf(config));
    used.Step(1);
    for (float& value : used.parameters->span()) value *= 1.25f;
    ModelBench fresh(InHalf(config));
    for (float& value : fresh.parameters->span()) value *= 1.25f;
    const double before = fresh.Loss();
    EXPECT_EQ(used.Loss(), before);
    const std::vector<float> first = used.Gradients();
    used.Step(1);
    fresh.Step(1);
    for (size_t i = 0; i < first.size(); ++i) {
      ASSERT_EQ(used.gradients->span()[i], first[i] + fresh.gradients->span()[i]) << i;
    }
  }
}

TEST(PrecisionTest, TrainingGetsAsFar) {
  double losses[2];
  for (const Precision precision : {Precision::kFloat32, Precision::kBFloat16}) {
    ModelBench bench(In(precision, TinyTransformer()));
    const double start = bench.Loss();
    for (int step = 0; step < 60; ++step) {
      const absl::Span<float> gradients = bench.gradients->span();
      std::fill(gradients.begin(), gradients.end(), 0.0f);
      bench.Step(1);
      for (size_t i = 0; i < gradients.size(); ++i)
        bench.parameters->span()[i] -= 0.1f * gradients[i];
    }
    losses[precision == Precision::kBFloat16] = bench.Loss();
    EXPECT_LT(bench.Loss(), 0.3 * start);
  }
  EXPECT_NEAR(losses[0], losses[1], 0.1);
}

// As with --strategy=data_parallel, and with models of both kinds at once.
TEST(PrecisionTest, BelongsToAModelWhateverItsThread) {
  constexpr int kSteps = 20;
  const auto train = [](const ModelConfig& config, std::vector<float>* gradients) {
    ModelBench bench(config);
    for (int step = 0; step < kSteps; ++step) {
      bench.Step(1);
      ASSERT_TRUE(bench.model->Evaluate(bench.batch()).ok());
    }
    *gradients = bench.Gradients();
  };
  const ModelConfig full = TinyLenet(), half = InHalf(TinyLenet());
  std::vector<float> alone[2];
  train(full, &alone[0]);
  train(half, &alone[1]);
  EXPECT_NE(alone[0], alone[1]);
  std::vector<float> together[4];
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(train, i % 2 == 0 ? full : half, &together[i]);
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(together[i], alone[i % 2]) << i;
}

struct ThreadState {
  bool enabled = at::autocast::is_cpu_enabled();
  bool cache = at::autocast::is_autocast_cache_enabled();
  at::ScalarType type = at::autocast::get_autocast_cpu_dtype();

  friend bool operator==(const ThreadState& a, const ThreadState& b) {
    return a.enabled == b.enabled && a.cache == b.cache && a.type == b.type;
  }
};

TEST(AutocastTest, LeavesTheThreadAsItWas) {
  const ThreadState before;
  EXPECT_FALSE(before.enabled);
  {
    const Autocast half(Precision::kBFloat16);
    EXPECT_TRUE(at::autocast::is_cpu_enabled());
    EXPECT_FALSE(at::autocast::is_autocast_cache_enabled());
    EXPECT_EQ(at::autocast::get_autocast_cpu_dtype(), at::kBFloat16);
    {
      const Autocast full(Precision::kFloat32);
      EXPECT_FALSE(at::autocast::is_cpu_enabled());
    }
    EXPECT_TRUE(at::autocast::is_cpu_enabled());
    bool elsewhere = true;
    std::thread([&] { elsewhere = at::autocast::is_cpu_enabled(); }).join();
    EXPECT_FALSE(elsewhere);
  }
  EXPECT_TRUE(ThreadState() == before);
  ModelBench bench(InHalf(TinyLenet()));
  bench.Step(1);
  EXPECT_TRUE(ThreadState() == before);
  bench.labels[0] = 99;  // what LibTorch throws at
  EXPECT_FALSE(bench.model->Forward(bench.batch()).ok());
  EXPECT_TRUE(ThreadState() == before);
}

}  // namespace
}  // namespace ringside
