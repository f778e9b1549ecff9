// DeepLab v3 for semantic segmentation (Chen et al. 2017, "Rethinking atrous convolution for
// semantic image segmentation"), with the layout and the names of torchvision: a residual network
// at an eighth of the resolution, atrous spatial pyramid pooling, and an auxiliary head on the last
// stage but one, whose loss counts half.
#ifndef RINGSIDE_WORKER_MODELS_DEEPLAB_H_
#define RINGSIDE_WORKER_MODELS_DEEPLAB_H_

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "worker/models/layers.h"
#include "worker/models/network.h"
#include "worker/models/resnet.h"

namespace ringside {

// Atrous spatial pyramid pooling: a 1x1 convolution, 3x3 ones dilated by 12, 24 and 36, and the
// mean over the image, put together by another 1x1 convolution to 256 channels.
class Aspp : public torch::nn::Module {
 public:
  explicit Aspp(int64_t inputs);
  torch::Tensor forward(const torch::Tensor& images, double probability, Dropout* dropout);

 private:
  std::vector<torch::nn::Sequential> branches_;
  torch::nn::Sequential mean_{nullptr};
  torch::nn::Sequential project_{nullptr};
};

// From [samples, channels or 1, rows, columns] to [samples, classes, rows, columns].
class Deeplab final : public Network {
 public:
  // Of `layout`, `dilated` does not count. `dropout` is the probability after the pyramid; in the
  // auxiliary head it is a fifth of that. The paper's implementation has 0.5 and 0.1.
  Deeplab(ResnetLayout layout, int64_t channels, int64_t classes, double dropout);
  Scores Forward(const torch::Tensor& input, Dropout* dropout) override;
  bool has_dropout() const override { return dropout_ > 0; }

 private:
  torch::Tensor MainHead(const torch::Tensor& features, Dropout* dropout);
  torch::Tensor AuxiliaryHead(const torch::Tensor& features, Dropout* dropout);

  const int64_t channels_;
  const double dropout_;
  std::shared_ptr<ResnetTrunk> backbone_;
  std::shared_ptr<Aspp> aspp_;
  Convolution smooth_{nullptr};
  BatchNorm smooth_norm_{nullptr};
  Convolution classify_{nullptr};
  Convolution auxiliary_smooth_{nullptr};
  BatchNorm auxiliary_norm_{nullptr};
  Convolution auxiliary_classify_{nullptr};
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_MODELS_DEEPLAB_H_
