// A transformer encoder that classifies sequences (Vaswani et al. 2017): token and learned position
// embeddings, layers named and built as PyTorch's nn.TransformerEncoderLayer (normalised after each
// sum, ReLU), and a linear layer on the mean over the tokens.
#ifndef RINGSIDE_WORKER_MODELS_TRANSFORMER_H_
#define RINGSIDE_WORKER_MODELS_TRANSFORMER_H_

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "worker/models/attention.h"
#include "worker/models/layers.h"
#include "worker/models/network.h"

namespace ringside {

class EncoderLayer : public torch::nn::Module {
 public:
  explicit EncoderLayer(const TransformerSize& size);
  // From and to [samples, length, width]. `mask` as of SelfAttention.
  torch::Tensor forward(const torch::Tensor& values, const torch::Tensor& mask, Dropout* dropout);

 private:
  const int64_t heads_;
  const double dropout_;
  torch::Tensor in_proj_weight_;
  torch::Tensor in_proj_bias_;
  Linear out_proj_{nullptr};
  Linear linear1_{nullptr};
  Linear linear2_{nullptr};
  LayerNorm norm1_{nullptr};
  LayerNorm norm2_{nullptr};
};

// From tokens [samples, length up to size.sequence] to [samples, classes]. Nothing attends to
// kPaddingToken, and the mean leaves it out; but the first token of a sequence always counts, for a
// sequence of nothing has no mean.
class TransformerClassifier final : public Network {
 public:
  TransformerClassifier(const TransformerSize& size, int64_t classes);
  Scores Forward(const torch::Tensor& input, Dropout* dropout) override;
  bool has_dropout() const override { return dropout_ > 0; }
  // The matrices keep the variance, the embeddings are normal with a standard deviation of 0.02.
  InitialValues InitialValuesOf(const ParameterSpec& spec) const override;

 private:
  const double dropout_;
  Embedding embedding_{nullptr};
  Embedding positions_{nullptr};
  std::vector<std::shared_ptr<EncoderLayer>> layers_;
  Linear classifier_{nullptr};
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_MODELS_TRANSFORMER_H_
