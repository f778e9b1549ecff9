// A Model over any Network, with the cross-entropy loss.
#ifndef RINGSIDE_WORKER_MODELS_TORCH_MODEL_H_
#define RINGSIDE_WORKER_MODELS_TORCH_MODEL_H_

#include <torch/torch.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "worker/models/direct_gradient.h"
#include "worker/models/model.h"
#include "worker/models/network.h"
#include "worker/models/precision.h"

namespace ringside {

class TorchModel final : public Model {
 public:
  // `shape` is what every sample looks like. `precision` is that of training and of evaluation;
  // scores become float32 before anything is made of them.
  TorchModel(std::shared_ptr<Network> network, const SampleShape& shape, int64_t seed,
             Precision precision = Precision::kFloat32);

  const std::vector<ParameterSpec>& Parameters() const override { return specs_; }
  absl::Status Bind(absl::Span<float> parameters, absl::Span<float> gradients,
                    std::function<void(int parameter)> parameter_ready) override;
  absl::StatusOr<double> Forward(const Batch& batch) override;
  void ClearGradients() override;
  absl::Status Backward(double weight) override;
  void CompleteGradients() override;
  absl::StatusOr<EvaluationSums> Evaluate(const Batch& batch) override;
  std::string DependsOnCut() const override;
  const BufferSpecs& Buffers() const override { return buffer_specs_; }
  absl::Status ReadBuffers(absl::Span<float> floats, absl::Span<int64_t> counters) const override;
  absl::Status WriteBuffers(absl::Span<const float> floats,
                            absl::Span<const int64_t> counters) override;

 private:
  void BindParameter(int index, float* value, float* gradient);
  // What LibTorch has handed over; zeros where there is nothing.
  void PutInPlace(int index);
  absl::Status CheckBatch(const Batch& batch) const;
  absl::Status CheckBufferLengths(size_t floats, size_t counters) const;
  Scores Compute(const Batch& batch, Dropout* dropout);
  torch::Tensor Input(const Batch& batch) const;
  torch::Tensor Labels(const Batch& batch) const;

  // Constant after construction.
  const std::shared_ptr<Network> network_;
  const SampleShape shape_;
  const int64_t seed_;
  const Precision precision_;
  std::vector<torch::Tensor> parameters_;
  std::vector<ParameterSpec> specs_;
  std::vector<torch::Tensor> float_buffers_;
  std::vector<torch::Tensor> counter_buffers_;
  BufferSpecs buffer_specs_;
  std::vector<DirectGradient*> direct_gradients_;  // the layers' own

  std::vector<torch::Tensor>
      places_;  // by parameter: its part of the gradients that Bind was given
  // The parameters that have no direct gradient. Where they have none yet, LibTorch hands over the
  // tensor that it made for the first; into their places it is copied once, where zeroing and
  // adding would be two passes more. From then on LibTorch adds to what stands there.
  std::vector<int> handed_over_;

  std::function<void(int)> parameter_ready_;
  // The nodes that accumulate gradients. LibTorch keeps weak references only, and with a
  // node goes its hook.
  std::vector<std::shared_ptr<torch::autograd::Node>> accumulators_;
  torch::Tensor loss_;  // of the last Forward
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_MODELS_TORCH_MODEL_H_
