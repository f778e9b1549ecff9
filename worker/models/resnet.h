// Residual networks (He et al. 2016, "Deep residual learning for image recognition"), with the
// layout and the names of torchvision: the stride of a bottleneck is in its 3x3 convolution.
#ifndef RINGSIDE_WORKER_MODELS_RESNET_H_
#define RINGSIDE_WORKER_MODELS_RESNET_H_

#include <torch/torch.h>

#include <array>
#include <cstdint>
#include <vector>

#include "worker/models/layers.h"
#include "worker/models/network.h"

namespace ringside {

struct ResnetLayout {
  bool bottleneck = false;
  std::array<int64_t, 4> blocks = {2, 2, 2, 2};  // of each stage
  int64_t width = 64;                            // channels of the stem; doubles with each stage
  // The last two stages keep the extent of the image and dilate their convolutions instead.
  bool dilated = false;

  // Channels that leave the stage, counted from 0.
  int64_t StageChannels(int stage) const { return (width << stage) * (bottleneck ? 4 : 1); }
};

constexpr ResnetLayout kResnet18 = {false, {2, 2, 2, 2}};
constexpr ResnetLayout kResnet50 = {true, {3, 4, 6, 3}};
constexpr ResnetLayout kResnet101 = {true, {3, 4, 23, 3}};

// Convolutions conv1, bn1, conv2, ..., whose output is added to the input or, where shapes differ,
// to what `downsample` makes of it.
class ResidualBlock : public torch::nn::Module {
 public:
  // Two convolutions of 3x3 (BasicBlock), or 1x1, 3x3 and 1x1 to four times as many channels
  // (Bottleneck).
  ResidualBlock(bool bottleneck, int64_t inputs, int64_t width, int64_t stride, int64_t dilation);
  torch::Tensor forward(const torch::Tensor& images);

 private:
  void Add(int64_t inputs, int64_t outputs, ConvolutionSize size);

  std::vector<Convolution> convolutions_;
  std::vector<BatchNorm> norms_;
  torch::nn::Sequential downsample_{nullptr};
};

// All but the classifier: conv1, bn1, layer1 to layer4.
class ResnetTrunk : public torch::nn::Module {
 public:
  ResnetTrunk(const ResnetLayout& layout, int64_t channels);
  // What leaves each of the last two stages.
  std::array<torch::Tensor, 2> forward(const torch::Tensor& images);

 private:
  torch::nn::Sequential MakeStage(const ResnetLayout& layout, int stage);

  Convolution conv1_{nullptr};
  BatchNorm bn1_{nullptr};
  std::vector<torch::nn::Sequential> stages_;
};

// From [samples, channels or 1, any, any] to [samples, classes].
class Resnet final : public Network {
 public:
  Resnet(const ResnetLayout& layout, int64_t channels, int64_t classes);
  Scores Forward(const torch::Tensor& input, Dropout* dropout) override;

 private:
  const int64_t channels_;
  std::shared_ptr<ResnetTrunk> trunk_;
  Linear fc_{nullptr};
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_MODELS_RESNET_H_
