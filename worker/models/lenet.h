// A small convolutional network after LeNet (LeCun et al. 1998), with ReLU and maximum pooling.
#ifndef RINGSIDE_WORKER_MODELS_LENET_H_
#define RINGSIDE_WORKER_MODELS_LENET_H_

#include <torch/torch.h>

#include <cstdint>

namespace ringside {

// Two convolutions of 5x5 and two poolings of 2x2 leave at least one pixel.
constexpr int64_t kLenetLeastExtent = 16;

// From [batch, channels, rows, columns] to [batch, classes]. Parameters are conv1.weight,
// conv1.bias, conv2..., fc1..., fc2...
torch::nn::Sequential MakeLenet(int64_t channels, int64_t rows, int64_t columns, int64_t classes);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_MODELS_LENET_H_
