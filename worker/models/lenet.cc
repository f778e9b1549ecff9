#include "worker/models/lenet.h"

#include "worker/models/layers.h"

namespace ringside {
namespace {

constexpr int64_t kKernel = 5;
constexpr int64_t kPool = 2;
constexpr int64_t kChannels1 = 16;
constexpr int64_t kChannels2 = 32;
constexpr int64_t kHidden = 128;

// What a convolution without padding and a pooling leave of an extent.
int64_t Shrink(int64_t extent) { return (extent - kKernel + 1) / kPool; }

}  // namespace

torch::nn::Sequential MakeLenet(int64_t channels, int64_t rows, int64_t columns, int64_t classes) {
  const int64_t features = kChannels2 * Shrink(Shrink(rows)) * Shrink(Shrink(columns));
  torch::nn::Sequential network;
  network->push_back("conv1", torch::nn::Conv2d(channels, kChannels1, kKernel));
  network->push_back("relu1", torch::nn::ReLU());
  network->push_back("pool1", torch::nn::MaxPool2d(kPool));
  network->push_back("conv2", torch::nn::Conv2d(kChannels1, kChannels2, kKernel));
  network->push_back("relu2", torch::nn::ReLU());
  network->push_back("pool2", torch::nn::MaxPool2d(kPool));
  network->push_back("flatten", torch::nn::Flatten());
  network->push_back("fc1", Linear(features, kHidden));
  network->push_back("relu3", torch::nn::ReLU());
  network->push_back("fc2", Linear(kHidden, classes));
  return network;
}

}  // namespace ringside
