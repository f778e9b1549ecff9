#include "worker/models/layers.h"

namespace ringside {
namespace {

constexpr double kMomentum = 0.1;
constexpr double kEpsilon = 1e-5;

}  // namespace

ConvolutionImpl::ConvolutionImpl(int64_t inputs, int64_t outputs, ConvolutionSize size)
    : size_(size) {
  weight_ = register_parameter("weight", torch::empty({outputs, inputs, size.kernel, size.kernel}));
  if (size.bias) bias_ = register_parameter("bias", torch::empty({outputs}));
}

torch::Tensor ConvolutionImpl::forward(const torch::Tensor& images) {
  const int64_t padding = size_.dilation * (size_.kernel / 2);
  return torch::conv2d(images, weight_, bias_, size_.stride, padding, size_.dilation);
}

LinearImpl::LinearImpl(int64_t inputs, int64_t outputs) {
  gradient_ = c10::make_intrusive<DirectGradient>(
      register_parameter("weight", torch::empty({outputs, inputs})));
  bias_ = register_parameter("bias", torch::empty({outputs}));
}

torch::Tensor LinearImpl::forward(const torch::Tensor& values) {
  return DirectLinear(values, bias_, gradient_, WeightLayout::kOutputsByInputs);
}

BatchNormImpl::BatchNormImpl(int64_t channels) {
  weight_ = register_parameter("weight", torch::empty({channels}));
  bias_ = register_parameter("bias", torch::empty({channels}));
  running_mean_ = register_buffer("running_mean", torch::zeros({channels}));
  running_var_ = register_buffer("running_var", torch::ones({channels}));
  num_batches_tracked_ = register_buffer("num_batches_tracked", torch::zeros({}, torch::kInt64));
}

torch::Tensor BatchNormImpl::forward(const torch::Tensor& images) {
  if (is_training() && images.numel() == images.size(1)) {
    return torch::batch_norm(images, weight_, bias_, {}, {}, /*training=*/true, kMomentum, kEpsilon,
                             /*cudnn_enabled=*/false);
  }
  if (is_training()) num_batches_tracked_.add_(1);
  return torch::batch_norm(images, weight_, bias_, running_mean_, running_var_, is_training(),
                           kMomentum, kEpsilon, /*cudnn_enabled=*/false);
}

LayerNormImpl::LayerNormImpl(int64_t width) {
  weight_ = register_parameter("weight", torch::empty({width}));
  bias_ = register_parameter("bias", torch::empty({width}));
}

torch::Tensor LayerNormImpl::forward(const torch::Tensor& values) {
  return torch::layer_norm(values, weight_.sizes(), weight_, bias_, kEpsilon);
}

EmbeddingImpl::EmbeddingImpl(int64_t rows, int64_t width) {
  weight_ = register_parameter("weight", torch::empty({rows, width}));
}

torch::Tensor EmbeddingImpl::forward(const torch::Tensor& indices) {
  return torch::embedding(weight_, indices);
}

torch::Tensor WithChannels(const torch::Tensor& images, int64_t channels) {
  if (images.size(1) == channels) return images;
  return images.expand({-1, channels, -1, -1});
}

}  // namespace ringside
