#include "worker/models/gpt.h"

#include <cmath>
#include <limits>
#include <string>

#include "absl/strings/match.h"

namespace ringside {
namespace {

constexpr double kDeviation = 0.02;

}  // namespace

TransposedLinearImpl::TransposedLinearImpl(int64_t inputs, int64_t outputs) {
  gradient_ = c10::make_intrusive<DirectGradient>(
      register_parameter("weight", torch::empty({inputs, outputs})));
  bias_ = register_parameter("bias", torch::empty({outputs}));
}

torch::Tensor TransposedLinearImpl::forward(const torch::Tensor& values) {
  return DirectLinear(values, bias_, gradient_, WeightLayout::kInputsByOutputs);
}

GptBlock::GptBlock(const TransformerSize& size) : heads_(size.heads), dropout_(size.dropout) {
  ln_1_ = register_module("ln_1", LayerNorm(size.width));
  const auto attention = register_module("attn", std::make_shared<torch::nn::Module>());
  attention_in_ =
      attention->register_module("c_attn", TransposedLinear(size.width, 3 * size.width));
  attention_out_ = attention->register_module("c_proj", TransposedLinear(size.width, size.width));
  ln_2_ = register_module("ln_2", LayerNorm(size.width));
  const auto mlp = register_module("mlp", std::make_shared<torch::nn::Module>());
  mlp_in_ = mlp->register_module("c_fc", TransposedLinear(size.width, size.feedforward));
  mlp_out_ = mlp->register_module("c_proj", TransposedLinear(size.feedforward, size.width));
}

torch::Tensor GptBlock::forward(const torch::Tensor& values, const torch::Tensor& mask,
                                Dropout* dropout) {
  const torch::Tensor projected = attention_in_->forward(ln_1_->forward(values));
  const torch::Tensor attended =
      attention_out_->forward(SelfAttention(projected, heads_, mask, dropout_, dropout));
  const torch::Tensor first = values + dropout->Apply(attended, dropout_);
  const torch::Tensor hidden = torch::gelu(mlp_in_->forward(ln_2_->forward(first)), "tanh");
  return first + dropout->Apply(mlp_out_->forward(hidden), dropout_);
}

torch::Tensor CausalMask(int64_t length) {
  return torch::full({length, length}, -std::numeric_limits<float>::infinity()).triu_(1);
}

Gpt::Gpt(const TransformerSize& size) : layers_(size.layers), dropout_(size.dropout) {
  const auto transformer = register_module("transformer", std::make_shared<torch::nn::Module>());
  wte_ = transformer->register_module("wte", Embedding(size.vocabulary, size.width));
  wpe_ = transformer->register_module("wpe", Embedding(size.sequence, size.width));
  const auto blocks = transformer->register_module("h", std::make_shared<torch::nn::Module>());
  for (int64_t i = 0; i < size.layers; ++i) {
    blocks_.push_back(blocks->register_module(std::to_string(i), std::make_shared<GptBlock>(size)));
  }
  ln_f_ = transformer->register_module("ln_f", LayerNorm(size.width));
}

Scores Gpt::Forward(const torch::Tensor& input, Dropout* dropout) {
  const int64_t length = input.size(1);
  if (!mask_.defined() || mask_.size(0) != length) mask_ = CausalMask(length);
  torch::Tensor values = wte_->forward(input) + wpe_->weight().narrow(0, 0, length);
  values = dropout->Apply(values, dropout_);
  for (const auto& block : blocks_) values = block->forward(values, mask_, dropout);
  return {torch::linear(ln_f_->forward(values), wte_->weight()), {}, 0};
}

InitialValues Gpt::InitialValuesOf(const ParameterSpec& spec) const {
  if (spec.shape.size() < 2) return HeInitialValues(spec);
  const bool is_added = absl::EndsWith(spec.name, "c_proj.weight");
  const double shrink = is_added ? std::sqrt(2.0 * static_cast<double>(layers_)) : 1;
  return {InitialValues::Kind::kNormal, kDeviation / shrink};
}

}  // namespace ringside
