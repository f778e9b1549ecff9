// VGG with 16 layers of weights (Simonyan and Zisserman 2015, "Very deep convolutional networks for
// large-scale image recognition"), with the layout and the names of torchvision. Three quarters of
// its parameters are in classifier.0.weight.
#ifndef RINGSIDE_WORKER_MODELS_VGG_H_
#define RINGSIDE_WORKER_MODELS_VGG_H_

#include <torch/torch.h>

#include <cstdint>
#include <vector>

#include "worker/models/layers.h"
#include "worker/models/network.h"

namespace ringside {

// Five poolings leave at least one pixel.
constexpr int64_t kVggLeastExtent = 32;

// From [samples, channels or 1, rows, columns] to [samples, classes].
class Vgg16 final : public Network {
 public:
  // `hidden` is the width of the first two layers of the classifier, 4096 in the paper, and
  // `dropout` the probability after each of them, 0.5 there.
  Vgg16(int64_t channels, int64_t classes, int64_t hidden, double dropout);
  Scores Forward(const torch::Tensor& input, Dropout* dropout) override;
  bool has_dropout() const override { return dropout_ > 0; }

 private:
  const int64_t channels_;
  const double dropout_;
  torch::nn::Sequential features_;
  std::vector<Linear> classifier_;
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_MODELS_VGG_H_
