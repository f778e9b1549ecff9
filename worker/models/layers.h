// The layers that the architectures share. They compute what LibTorch's layers of the same kind
// compute, but leave their parameters as the memory was: a model's real ones come from Bind, and
// drawing 138 million numbers to throw them away takes seconds. So a model whose shapes alone are
// asked for costs next to nothing.
#ifndef RINGSIDE_WORKER_MODELS_LAYERS_H_
#define RINGSIDE_WORKER_MODELS_LAYERS_H_

#include <torch/torch.h>

#include <cstdint>

#include "worker/models/direct_gradient.h"

namespace ringside {

struct ConvolutionSize {
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  bool bias = false;
};

// Over images, with square kernels of odd extent and as much padding as keeps the extent of the
// image where the stride is 1.
class ConvolutionImpl : public torch::nn::Module {
 public:
  ConvolutionImpl(int64_t inputs, int64_t outputs, ConvolutionSize size);
  torch::Tensor forward(const torch::Tensor& images);

 private:
  const ConvolutionSize size_;
  torch::Tensor weight_;
  torch::Tensor bias_;  // undefined without one
};
TORCH_MODULE(Convolution);

// Over the last dimension.
class LinearImpl : public torch::nn::Module, public DirectGradientLayer {
 public:
  LinearImpl(int64_t inputs, int64_t outputs);
  torch::Tensor forward(const torch::Tensor& values);
  DirectGradient* direct_gradient() const override { return gradient_.get(); }

 private:
  torch::Tensor bias_;
  c10::intrusive_ptr<DirectGradient> gradient_;  // has the weight
};
TORCH_MODULE(Linear);

// Over all but the second dimension, with a moving average of 0.1 a batch. Where a channel has one
// value only, that value is its mean, so the result is the bias; the running statistics, of which
// the variance would not be a number, stay as they are. (LibTorch refuses such a batch, which would
// end a run at the one sample that an epoch leaves over.) So no gradient depends on running
// statistics.
class BatchNormImpl : public torch::nn::Module {
 public:
  explicit BatchNormImpl(int64_t channels);
  torch::Tensor forward(const torch::Tensor& images);

 private:
  torch::Tensor weight_;
  torch::Tensor bias_;
  torch::Tensor running_mean_;
  torch::Tensor running_var_;
  torch::Tensor num_batches_tracked_;
};
TORCH_MODULE(BatchNorm);

// Over the last dimension, as long as `width`.
class LayerNormImpl : public torch::nn::Module {
 public:
  explicit LayerNormImpl(int64_t width);
  torch::Tensor forward(const torch::Tensor& values);

 private:
  torch::Tensor weight_;
  torch::Tensor bias_;
};
TORCH_MODULE(LayerNorm);

// A row for each index.
class EmbeddingImpl : public torch::nn::Module {
 public:
  EmbeddingImpl(int64_t rows, int64_t width);
  torch::Tensor forward(const torch::Tensor& indices);
  const torch::Tensor& weight() const { return weight_; }

 private:
  torch::Tensor weight_;
};
TORCH_MODULE(Embedding);

// Makes grey images ones of `channels` equal channels; others already have as many.
torch::Tensor WithChannels(const torch::Tensor& images, int64_t channels);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_MODELS_LAYERS_H_
