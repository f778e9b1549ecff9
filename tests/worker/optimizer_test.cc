#include "common/optimizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

namespace ringside {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kElements = 1003;  // not a multiple of any vector's width
constexpr int kSteps = 100;

using MakeOracle = std::function<std::unique_ptr<torch::optim::Optimizer>(torch::Tensor)>;

// Gradients that pull the parameters together and change sign now and then, the same for both.
void FillGradients(int step, const std::vector<float>& parameters, std::vector<float>* gradients) {
  for (size_t i = 0; i < gradients->size(); ++i) {
    const double wave = std::sin(0.1 * static_cast<double>(step) * (1 + i % 7) + i);
    (*gradients)[i] = static_cast<float>(0.1 * parameters[i] + wave);
  }
}

void ExpectLikeTorch(const OptimizerConfig& config, const MakeOracle& make_oracle) {
  std::vector<float> parameters(kElements);
  for (size_t i = 0; i < parameters.size(); ++i) {
    parameters[i] = static_cast<float>(std::cos(0.37 * static_cast<double>(i)));
  }
  torch::Tensor oracle_parameters =
      torch::tensor(parameters, torch::kFloat32).set_requires_grad(true);
  const auto oracle = make_oracle(oracle_parameters);
  const auto optimizer = Optimizer::Create(config, kElements);
  ASSERT_TRUE(optimizer.ok()) << optimizer.status();

  std::vector<float> gradients(kElements);
  for (int step = 1; step <= kSteps; ++step) {
    FillGradients(step, parameters, &gradients);
    oracle_parameters.mutable_grad() = torch::tensor(gradients, torch::kFloat32);
    oracle->step();
    (*optimizer)->Apply(step, gradients, absl::MakeSpan(parameters));
  }
  const torch::Tensor ours = torch::tensor(parameters, torch::kFloat32);
  const torch::Tensor theirs = oracle_parameters.detach();
  EXPECT_LE(((ours - theirs).norm() / theirs.norm()).item<double>(), 1e-6);
  // By element, too; what has almost cancelled out is measured against the size of the others.
  const auto scale = theirs.abs().clamp_min(theirs.abs().mean().item<double>());
  EXPECT_LE(((ours - theirs).abs() / scale).max().item<double>(), 2e-6);
}

OptimizerConfig Sgd(double rate, double momentum, bool nesterov, double decay) {
  OptimizerConfig config;
  config.name = "sgd";
  config.learning_rate = rate;
  config.momentum = momentum;
  config.nesterov = nesterov;
  config.weight_decay = decay;
  return config;
}

TEST(OptimizerTest, SgdIsLikeTorch) {
  for (const OptimizerConfig& config :
       {Sgd(0.05, 0, false, 0), Sgd(0.05, 0, false, 0.01), Sgd(0.1, 0.9, false, 0),
        Sgd(0.01, 0.9, false, 0.001), Sgd(0.05, 0.9, true, 0), Sgd(0.02, 0.5, true, 0.1)}) {
    SCOPED_TRACE(testing::Message() << config.learning_rate << " " << config.momentum << " "
                                    << config.nesterov << " " << config.weight_decay);
    ExpectLikeTorch(config, [&](torch::Tensor parameter) {
      return std::make_unique<torch::optim::SGD>(std::vector<torch::Tensor>{parameter},
                                                 torch::optim::SGDOptions(config.learning_rate)
                                                     .momentum(config.momentum)
                                                     .nesterov(config.nesterov)
                                                     .weight_decay(config.weight_decay));
    });
  }
}

TEST(OptimizerTest, AdamIsLikeTorch) {
  for (double decay : {0.0, 0.01}) {
    for (double beta1 : {0.9, 0.5}) {
      OptimizerConfig config;
      config.name = "adam";
      config.learning_rate = 0.001;
      config.beta1 = beta1;
      config.weight_decay = decay;
      SCOPED_TRACE(testing::Message() << decay << " " << beta1);
      ExpectLikeTorch(config, [&](torch::Tensor parameter) {
        return std::make_unique<torch::optim::Adam>(std::vector<torch::Tensor>{parameter},
                                                    torch::optim::AdamOptions(config.learning_rate)
                                                        .betas({config.beta1, config.beta2})
                                                        .eps(config.epsilon)
                                                        .weight_decay(config.weight_decay));
      });
    }
  }
}

TEST(OptimizerTest, AdamWIsLikeTorch) {
  for (double decay : {0.0, 0.01, 0.5}) {
    OptimizerConfig config;
    config.name = "adamw";
    config.learning_rate = 0.002;
    config.epsilon = 1e-6;
    config.beta2 = 0.99;
    config.weight_decay = decay;
    SCOPED_TRACE(decay);
    ExpectLikeTorch(config, [&](torch::Tensor parameter) {
      return std::make_unique<torch::optim::AdamW>(std::vector<torch::Tensor>{parameter},
                                                   torch::optim::AdamWOptions(config.learning_rate)
                                                       .betas({config.beta1, config.beta2})
                                                       .eps(config.epsilon)
                                                       .weight_decay(config.weight_decay));
    });
  }
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
    (*all)->Apply(step, gradients, absl::MakeSpan(whole));
    (*first)->Apply(step, absl::MakeConstSpan(gradients).subspan(0, 2), span.subspan(0, 2));
    (*second)->Apply(step, absl::MakeConstSpan(gradients).subspan(2), span.subspan(2));
  }
  EXPECT_EQ(whole, parts);
}

TEST(OptimizerTest, NothingToUpdateIsFine) {
  const auto optimizer = Optimizer::Create(Sgd(0.1, 0.9, true, 0), 0);
  ASSERT_TRUE(optimizer.ok());
  (*optimizer)->Apply(1, {}, {});
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
              HasSubstr("--optimizer=lion: must be one of sgd, adam, adamw"));
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
