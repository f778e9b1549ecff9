#include "worker/models/resnet.h"

#include <memory>
#include <string>

namespace ringside {

ResidualBlock::ResidualBlock(bool bottleneck, int64_t inputs, int64_t width, int64_t stride,
                             int64_t dilation) {
  const int64_t outputs = bottleneck ? 4 * width : width;
  if (bottleneck) {
    Add(inputs, width, {1});
    Add(width, width, {3, stride, dilation});
    Add(width, outputs, {1});
  } else {
    Add(inputs, width, {3, stride, dilation});
    Add(width, outputs, {3, 1, dilation});
  }
  if (stride == 1 && inputs == outputs) return;
  downsample_ = register_module(
      "downsample", torch::nn::Sequential(Convolution(inputs, outputs, ConvolutionSize{1, stride}),
                                          BatchNorm(outputs)));
}

void ResidualBlock::Add(int64_t inputs, int64_t outputs, ConvolutionSize size) {
  const std::string number = std::to_string(convolutions_.size() + 1);
  convolutions_.push_back(register_module("conv" + number, Convolution(inputs, outputs, size)));
  norms_.push_back(register_module("bn" + number, BatchNorm(outputs)));
}

torch::Tensor ResidualBlock::forward(const torch::Tensor& images) {
  torch::Tensor values = images;
  for (size_t i = 0; i < convolutions_.size(); ++i) {
    if (i > 0) values.relu_();
    values = norms_[i]->forward(convolutions_[i]->forward(values));
  }
  values += downsample_.is_empty() ? images : downsample_->forward(images);
  return values.relu_();
}

ResnetTrunk::ResnetTrunk(const ResnetLayout& layout, int64_t channels) {
  conv1_ = register_module("conv1", Convolution(channels, layout.width, ConvolutionSize{7, 2}));
  bn1_ = register_module("bn1", BatchNorm(layout.width));
  for (int stage = 0; stage < 4; ++stage) {
    stages_.push_back(
        register_module("layer" + std::to_string(stage + 1), MakeStage(layout, stage)));
  }
}

torch::nn::Sequential ResnetTrunk::MakeStage(const ResnetLayout& layout, int stage) {
  const bool dilates = layout.dilated && stage >= 2;
  const int64_t stride = stage == 0 || dilates ? 1 : 2;
  // The first block of a stage still has the dilation of the stage before.
  int64_t dilation = dilates ? int64_t{1} << (stage - 2) : 1;
  int64_t inputs = stage == 0 ? layout.width : layout.StageChannels(stage - 1);
  torch::nn::Sequential blocks;
  for (int64_t block = 0; block < layout.blocks[stage]; ++block) {
    blocks->push_back(std::make_shared<ResidualBlock>(
        layout.bottleneck, inputs, layout.width << stage, block == 0 ? stride : 1, dilation));
    inputs = layout.StageChannels(stage);
    if (dilates) dilation = int64_t{1} << (stage - 1);
  }
  return blocks;
}

std::array<torch::Tensor, 2> ResnetTrunk::forward(const torch::Tensor& images) {
  torch::Tensor values = bn1_->forward(conv1_->forward(images)).relu_();
  values = torch::max_pool2d(values, /*kernel_size=*/3, /*stride=*/2, /*padding=*/1);
  values = stages_[1]->forward(stages_[0]->forward(values));
  const torch::Tensor third = stages_[2]->forward(values);
  return {third, stages_[3]->forward(third)};
}

Resnet::Resnet(const ResnetLayout& layout, int64_t channels, int64_t classes)
    : channels_(channels), trunk_(std::make_shared<ResnetTrunk>(layout, channels)) {
  AdoptChildren(*trunk_, this);
  fc_ = register_module("fc", Linear(layout.StageChannels(3), classes));
}

Scores Resnet::Forward(const torch::Tensor& input, Dropout* /*dropout*/) {
  const torch::Tensor values = trunk_->forward(WithChannels(input, channels_))[1];
  return {fc_->forward(torch::adaptive_avg_pool2d(values, {1, 1}).flatten(1)), {}, 0};
}

}  // namespace ringside
