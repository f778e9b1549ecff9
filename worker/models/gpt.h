// A language model after GPT-2 (Radford et al. 2019, "Language models are unsupervised multitask
// learners"): a decoder, normalised before each sublayer, whose output layer is its token
// embedding. Names and shapes are those of the published checkpoints, in which the matrices of the
// blocks are [inputs, outputs].
#ifndef RINGSIDE_WORKER_MODELS_GPT_H_
#define RINGSIDE_WORKER_MODELS_GPT_H_

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "worker/models/attention.h"
#include "worker/models/layers.h"
#include "worker/models/network.h"

namespace ringside {

// A linear layer whose matrix is [inputs, outputs].
class TransposedLinearImpl : public torch::nn::Module, public DirectGradientLayer {
 public:
  TransposedLinearImpl(int64_t inputs, int64_t outputs);
  // Over the last of three dimensions.
  torch::Tensor forward(const torch::Tensor& values);
  DirectGradient* direct_gradient() const override { return gradient_.get(); }

 private:
  torch::Tensor bias_;
  c10::intrusive_ptr<DirectGradient> gradient_;  // has the weight
};
TORCH_MODULE(TransposedLinear);

class GptBlock : public torch::nn::Module {
 public:
  explicit GptBlock(const TransformerSize& size);
  // From and to [samples, length, width]. `mask` as of SelfAttention.
  torch::Tensor forward(const torch::Tensor& values, const torch::Tensor& mask, Dropout* dropout);

 private:
  const int64_t heads_;
  const double dropout_;
  LayerNorm ln_1_{nullptr};
  TransposedLinear attention_in_{nullptr};
  TransposedLinear attention_out_{nullptr};
  LayerNorm ln_2_{nullptr};
  TransposedLinear mlp_in_{nullptr};
  TransposedLinear mlp_out_{nullptr};
};

// [length, length]: -inf where the column is later than the row, else 0.
torch::Tensor CausalMask(int64_t length);

// From tokens [samples, length up to size.sequence] to [samples, length, vocabulary], the scores of
// the token that comes next.
class Gpt final : public Network {
 public:
  explicit Gpt(const TransformerSize& size);
  Scores Forward(const torch::Tensor& input, Dropout* dropout) override;
  bool has_dropout() const override { return dropout_ > 0; }
  // Normal with a standard deviation of 0.02, divided by sqrt(2 * layers) where a sublayer is added
  // to the sum of those before.
  InitialValues InitialValuesOf(const ParameterSpec& spec) const override;

 private:
  const int64_t layers_;
  const double dropout_;
  Embedding wte_{nullptr};
  Embedding wpe_{nullptr};
  std::vector<std::shared_ptr<GptBlock>> blocks_;
  LayerNorm ln_f_{nullptr};
  torch::Tensor mask_;  // of the last length
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_MODELS_GPT_H_
