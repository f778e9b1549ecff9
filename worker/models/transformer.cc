#include "worker/models/transformer.h"

#include <cmath>
#include <limits>
#include <string>

#include "absl/strings/match.h"
#include "worker/models/batch.h"

namespace ringside {
namespace {

constexpr double kEmbeddingDeviation = 0.02;

}  // namespace

EncoderLayer::EncoderLayer(const TransformerSize& size)
    : heads_(size.heads), dropout_(size.dropout) {
  const auto attention = register_module("self_attn", std::make_shared<torch::nn::Module>());
  in_proj_weight_ =
      attention->register_parameter("in_proj_weight", torch::empty({3 * size.width, size.width}));
  in_proj_bias_ = attention->register_parameter("in_proj_bias", torch::empty({3 * size.width}));
  out_proj_ = attention->register_module("out_proj", Linear(size.width, size.width));
  linear1_ = register_module("linear1", Linear(size.width, size.feedforward));
  linear2_ = register_module("linear2", Linear(size.feedforward, size.width));
  norm1_ = register_module("norm1", LayerNorm(size.width));
  norm2_ = register_module("norm2", LayerNorm(size.width));
}

torch::Tensor EncoderLayer::forward(const torch::Tensor& values, const torch::Tensor& mask,
                                    Dropout* dropout) {
  const torch::Tensor projected = torch::linear(values, in_proj_weight_, in_proj_bias_);
  const torch::Tensor attended =
      out_proj_->forward(SelfAttention(projected, heads_, mask, dropout_, dropout));
  const torch::Tensor first = norm1_->forward(values + dropout->Apply(attended, dropout_));
  const torch::Tensor hidden = dropout->Apply(linear1_->forward(first).relu_(), dropout_);
  return norm2_->forward(first + dropout->Apply(linear2_->forward(hidden), dropout_));
}

TransformerClassifier::TransformerClassifier(const TransformerSize& size, int64_t classes)
    : dropout_(size.dropout) {
  embedding_ = register_module("embedding", Embedding(size.vocabulary, size.width));
  positions_ = register_module("positions", Embedding(size.sequence, size.width));
  const auto layers = register_module("encoder", std::make_shared<torch::nn::Module>())
                          ->register_module("layers", std::make_shared<torch::nn::Module>());
  for (int64_t i = 0; i < size.layers; ++i) {
    layers_.push_back(
        layers->register_module(std::to_string(i), std::make_shared<EncoderLayer>(size)));
  }
  classifier_ = register_module("classifier", Linear(size.width, classes));
}

Scores TransformerClassifier::Forward(const torch::Tensor& input, Dropout* dropout) {
  const int64_t length = input.size(1);
  torch::Tensor counts = input.ne(kPaddingToken);
  counts.select(1, 0).fill_(true);
  const torch::Tensor mask = torch::zeros({input.size(0), 1, 1, length})
                                 .masked_fill_(counts.logical_not().view({-1, 1, 1, length}),
                                               -std::numeric_limits<float>::infinity());
  torch::Tensor values = embedding_->forward(input) + positions_->weight().narrow(0, 0, length);
  values = dropout->Apply(values, dropout_);
  for (const auto& layer : layers_) values = layer->forward(values, mask, dropout);
  const torch::Tensor weights = counts.to(torch::kFloat32).unsqueeze(2);
  const torch::Tensor mean = (values * weights).sum(1) / weights.sum(1);
  return {classifier_->forward(mean), {}, 0};
}

InitialValues TransformerClassifier::InitialValuesOf(const ParameterSpec& spec) const {
  if (spec.name == "embedding.weight" || spec.name == "positions.weight") {
    return {InitialValues::Kind::kNormal, kEmbeddingDeviation};
  }
  InitialValues values = HeInitialValues(spec);
  // Without the factor that makes up for ReLU, which follows one matrix of four.
  if (values.kind == InitialValues::Kind::kUniform) values.scale /= std::sqrt(2.0);
  return values;
}

}  // namespace ringside
