// A Model over any torch::nn::Sequential from images to class scores, with the cross-entropy loss.
#ifndef RINGSIDE_WORKER_MODELS_TORCH_MODEL_H_
#define RINGSIDE_WORKER_MODELS_TORCH_MODEL_H_

#include <torch/torch.h>

#include <functional>
#include <memory>
#include <vector>

#include "worker/models/model.h"

namespace ringside {

class TorchModel final : public Model {
 public:
  // `image_shape` is the shape of one image as the network expects it, e.g. {784} or {1, 28, 28}.
  TorchModel(torch::nn::Sequential network, std::vector<int64_t> image_shape, int64_t seed);

  const std::vector<ParameterSpec>& Parameters() const override { return specs_; }
  absl::Status Bind(absl::Span<float> parameters, absl::Span<float> gradients,
                    std::function<void(int parameter)> parameter_ready) override;
  absl::StatusOr<double> Forward(const Batch& batch) override;
  absl::Status Backward(double weight) override;
  absl::StatusOr<EvaluationSums> Evaluate(const Batch& batch) override;

 private:
  void BindParameter(int index, float* value, float* gradient);
  torch::Tensor Scores(const Batch& batch);

  // Constant after construction.
  torch::nn::Sequential network_;
  const std::vector<int64_t> image_shape_;
  const int64_t seed_;
  std::vector<torch::Tensor> parameters_;
  std::vector<ParameterSpec> specs_;

  std::function<void(int)> parameter_ready_;
  // The nodes that add gradients to the buffer. LibTorch keeps weak references only, and with a
  // node goes its hook.
  std::vector<std::shared_ptr<torch::autograd::Node>> accumulators_;
  torch::Tensor loss_;  // of the last Forward
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_MODELS_TORCH_MODEL_H_
