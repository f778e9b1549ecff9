#include "common/optimizer.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <functional>
#include <memory>
#include <vector>

namespace ringside {
namespace {

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

// The rate of the second half is the config's times `later`.
void ExpectLikeTorch(const OptimizerConfig& config, const MakeOracle& make_oracle,
                     double later = 1) {
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
    const double rate = config.learning_rate * (step <= kSteps / 2 ? 1 : later);
    for (auto& group : oracle->param_groups()) group.options().set_lr(rate);
    oracle_parameters.mutable_grad() = torch::tensor(gradients, torch::kFloat32);
    oracle->step();
    (*optimizer)->Apply(step, rate, gradients, absl::MakeSpan(parameters));
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

MakeOracle TorchSgd(const OptimizerConfig& config) {
  return [config](torch::Tensor parameter) {
    return std::make_unique<torch::optim::SGD>(std::vector<torch::Tensor>{parameter},
                                               torch::optim::SGDOptions(config.learning_rate)
                                                   .momentum(config.momentum)
                                                   .nesterov(config.nesterov)
                                                   .weight_decay(config.weight_decay));
  };
}

MakeOracle TorchAdamW(const OptimizerConfig& config) {
  return [config](torch::Tensor parameter) {
    return std::make_unique<torch::optim::AdamW>(std::vector<torch::Tensor>{parameter},
                                                 torch::optim::AdamWOptions(config.learning_rate)
                                                     .betas({config.beta1, config.beta2})
                                                     .eps(config.epsilon)
                                                     .weight_decay(config.weight_decay));
  };
}

TEST(OptimizerTest, SgdIsLikeTorch) {
  for (const OptimizerConfig& config :
       {Sgd(0.05, 0, false, 0), Sgd(0.05, 0, false, 0.01), Sgd(0.1, 0.9, false, 0),
        Sgd(0.01, 0.9, false, 0.001), Sgd(0.05, 0.9, true, 0), Sgd(0.02, 0.5, true, 0.1)}) {
    SCOPED_TRACE(testing::Message() << config.learning_rate << " " << config.momentum << " "
                                    << config.nesterov << " " << config.weight_decay);
    ExpectLikeTorch(config, TorchSgd(config));
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
    ExpectLikeTorch(config, TorchAdamW(config));
  }
}

TEST(OptimizerTest, AChangedRateIsLikeTorch) {
  const OptimizerConfig sgd = Sgd(0.01, 0.9, false, 0.001);
  ExpectLikeTorch(sgd, TorchSgd(sgd), 0.25);
  OptimizerConfig adamw;
  adamw.name = "adamw";
  adamw.learning_rate = 0.002;
  adamw.weight_decay = 0.5;
  ExpectLikeTorch(adamw, TorchAdamW(adamw), 0.25);
}

}  // namespace
}  // namespace ringside
