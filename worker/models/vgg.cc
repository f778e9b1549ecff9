#include "worker/models/vgg.h"

#include <memory>
#include <string>

namespace ringside {
namespace {

constexpr int64_t kPool = 0;  // between the channels of convolutions: a pooling
constexpr int64_t kFeatures[] = {64,    64,  kPool, 128, 128,   kPool, 256, 256, 256,
                                 kPool, 512, 512,   512, kPool, 512,   512, 512, kPool};
constexpr int64_t kExtent = 7;  // of the image that the classifier sees

}  // namespace

Vgg16::Vgg16(int64_t channels, int64_t classes, int64_t hidden, double dropout)
    : channels_(channels), dropout_(dropout) {
  int64_t inputs = channels;
  for (int64_t outputs : kFeatures) {
    if (outputs == kPool) {
      features_->push_back(torch::nn::MaxPool2d(2));
      continue;
    }
    features_->push_back(Convolution(inputs, outputs, ConvolutionSize{3, 1, 1, /*bias=*/true}));
    features_->push_back(torch::nn::ReLU(torch::nn::ReLUOptions(/*inplace=*/true)));
    inputs = outputs;
  }
  register_module("features", features_);
  // The numbers between are activations and dropout.
  const auto classifier = register_module("classifier", std::make_shared<torch::nn::Module>());
  classifier_ = {
      classifier->register_module("0", Linear(inputs * kExtent * kExtent, hidden)),
      classifier->register_module("3", Linear(hidden, hidden)),
      classifier->register_module("6", Linear(hidden, classes)),
  };
}

Scores Vgg16::Forward(const torch::Tensor& input, Dropout* dropout) {
  torch::Tensor values = features_->forward(WithChannels(input, channels_));
  values = torch::adaptive_avg_pool2d(values, {kExtent, kExtent}).flatten(1);
  for (int layer : {0, 1}) {
    values = dropout->Apply(classifier_[layer]->forward(values).relu_(), dropout_);
  }
  return {classifier_[2]->forward(values), {}, 0};
}

}  // namespace ringside
