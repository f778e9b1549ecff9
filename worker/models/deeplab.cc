#include "worker/models/deeplab.h"

#include <string>
#include <utility>

namespace ringside {
namespace {

constexpr int64_t kWidth = 256;
constexpr int64_t kDilations[] = {12, 24, 36};
constexpr double kAuxiliaryWeight = 0.5;
constexpr double kAuxiliaryDropout = 0.2;  // of the main head's

torch::nn::Sequential Activated(Convolution convolution, int64_t outputs) {
  return torch::nn::Sequential(std::move(convolution), BatchNorm(outputs),
                               torch::nn::ReLU(torch::nn::ReLUOptions(/*inplace=*/true)));
}

torch::Tensor Enlarge(const torch::Tensor& images, torch::IntArrayRef extent) {
  return torch::nn::functional::interpolate(images, torch::nn::functional::InterpolateFuncOptions()
                                                        .size(extent.vec())
                                                        .mode(torch::kBilinear)
                                                        .align_corners(false));
}

}  // namespace

Aspp::Aspp(int64_t inputs) {
  const auto branches = register_module("convs", std::make_shared<torch::nn::Module>());
  const auto add = [&](torch::nn::Sequential branch) {
    return branches->register_module(std::to_string(branches->children().size()),
                                     std::move(branch));
  };
  branches_.push_back(add(Activated(Convolution(inputs, kWidth, ConvolutionSize{1}), kWidth)));
  for (int64_t dilation : kDilations) {
    branches_.push_back(
        add(Activated(Convolution(inputs, kWidth, ConvolutionSize{3, 1, dilation}), kWidth)));
  }
  mean_ = add(torch::nn::Sequential(
      torch::nn::AdaptiveAvgPool2d(1), Convolution(inputs, kWidth, ConvolutionSize{1}),
      BatchNorm(kWidth), torch::nn::ReLU(torch::nn::ReLUOptions(/*inplace=*/true))));
  const int64_t together = kWidth * static_cast<int64_t>(branches_.size() + 1);
  project_ = register_module("project",
                             Activated(Convolution(together, kWidth, ConvolutionSize{1}), kWidth));
}

torch::Tensor Aspp::forward(const torch::Tensor& images, double probability, Dropout* dropout) {
  std::vector<torch::Tensor> parts;
  for (auto& branch : branches_) parts.push_back(branch->forward(images));
  parts.push_back(Enlarge(mean_->forward(images), images.sizes().slice(2)));
  return dropout->Apply(project_->forward(torch::cat(parts, 1)), probability);
}

Deeplab::Deeplab(ResnetLayout layout, int64_t channels, int64_t classes, double dropout)
    : channels_(channels), dropout_(dropout) {
  layout.dilated = true;
  backbone_ = register_module("backbone", std::make_shared<ResnetTrunk>(layout, channels));
  const int64_t main_inputs = layout.StageChannels(3);
  // The numbers that are missing are activations and dropout.
  const auto main = register_module("classifier", std::make_shared<torch::nn::Module>());
  aspp_ = main->register_module("0", std::make_shared<Aspp>(main_inputs));
  smooth_ = main->register_module("1", Convolution(kWidth, kWidth, ConvolutionSize{3}));
  smooth_norm_ = main->register_module("2", BatchNorm(kWidth));
  classify_ = main->register_module(
      "4", Convolution(kWidth, classes, ConvolutionSize{1, 1, 1, /*bias=*/true}));
  const int64_t inputs = layout.StageChannels(2);
  const auto auxiliary = register_module("aux_classifier", std::make_shared<torch::nn::Module>());
  auxiliary_smooth_ =
      auxiliary->register_module("0", Convolution(inputs, inputs / 4, ConvolutionSize{3}));
  auxiliary_norm_ = auxiliary->register_module("1", BatchNorm(inputs / 4));
  auxiliary_classify_ = auxiliary->register_module(
      "4", Convolution(inputs / 4, classes, ConvolutionSize{1, 1, 1, /*bias=*/true}));
}

Scores Deeplab::Forward(const torch::Tensor& input, Dropout* dropout) {
  const auto extent = input.sizes().slice(2);
  const auto features = backbone_->forward(WithChannels(input, channels_));
  Scores scores;
  scores.main = Enlarge(MainHead(features[1], dropout), extent);
  if (!is_training()) return scores;
  scores.auxiliary = Enlarge(AuxiliaryHead(features[0], dropout), extent);
  scores.auxiliary_weight = kAuxiliaryWeight;
  return scores;
}

torch::Tensor Deeplab::MainHead(const torch::Tensor& features, Dropout* dropout) {
  const torch::Tensor values = smooth_->forward(aspp_->forward(features, dropout_, dropout));
  return classify_->forward(smooth_norm_->forward(values).relu_());
}

torch::Tensor Deeplab::AuxiliaryHead(const torch::Tensor& features, Dropout* dropout) {
  const torch::Tensor values = auxiliary_norm_->forward(auxiliary_smooth_->forward(features));
  return auxiliary_classify_->forward(dropout->Apply(values.relu_(), kAuxiliaryDropout * dropout_));
}

}  // namespace ringside
