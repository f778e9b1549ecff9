// A model without LibTorch: one weight a pixel and a bias, squared error against the label.
#ifndef RINGSIDE_TESTS_WORKER_LINEAR_MODEL_H_
#define RINGSIDE_TESTS_WORKER_LINEAR_MODEL_H_

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "worker/models/model.h"

namespace ringside {

class LinearModel : public Model {
 public:
  explicit LinearModel(int64_t pixels)
      : specs_{{"weight", {pixels}, "float32"}, {"bias", {1}, "float32"}} {}

  const std::vector<ParameterSpec>& Parameters() const override { return specs_; }

  absl::Status Bind(absl::Span<float> parameters, absl::Span<float> gradients,
                    std::function<void(int)> ready) override {
    parameters_ = parameters;
    gradients_ = gradients;
    ready_ = std::move(ready);
    for (size_t i = 0; i < parameters.size(); ++i) parameters[i] = 0.01f * static_cast<float>(i);
    return absl::OkStatus();
  }

  absl::StatusOr<double> Forward(const Batch& batch) override {
    if (!fail_forward.ok()) return fail_forward;
    batch_ = batch;
    dropout_seeds.push_back(batch.dropout_seed);
    double loss = 0;
    for (int64_t i = 0; i < batch.size(); ++i) loss += 0.5 * Error(i) * Error(i);
    return loss / static_cast<double>(batch.size());
  }

  void ClearGradients() override { std::fill(gradients_.begin(), gradients_.end(), 0.0f); }
  void CompleteGradients() override {}

  absl::Status Backward(double weight) override {
    const double scale = weight / static_cast<double>(batch_.size());
    const size_t pixels = gradients_.size() - 1;
    in_backward = true;
    ++backwards;
    for (int64_t i = 0; i < batch_.size(); ++i) {
      gradients_[pixels] += static_cast<float>(scale * Error(i));
    }
    ready_(1);
    for (int64_t i = 0; i < batch_.size(); ++i) {
      for (size_t k = 0; k < pixels; ++k) {
        gradients_[k] += static_cast<float>(scale * Error(i)) * batch_.images[i * pixels + k];
      }
    }
    ready_(0);
    in_backward = false;
    return absl::OkStatus();
  }

  absl::StatusOr<EvaluationSums> Evaluate(const Batch& batch) override {
    batch_ = batch;
    evaluated.push_back(batch.size());
    EvaluationSums sums;
    sums.samples = batch.size();
    for (int64_t i = 0; i < batch.size(); ++i) {
      sums.correct += std::abs(Error(i)) < 0.5 ? 1 : 0;
      sums.loss += 0.5 * Error(i) * Error(i);
    }
    return sums;
  }

  absl::Status fail_forward;
  bool in_backward = false;
  int backwards = 0;
  std::vector<uint64_t> dropout_seeds;  // of each Forward
  std::vector<int64_t> evaluated;       // samples of each Evaluate

 private:
  double Error(int64_t sample) const {
    const size_t pixels = parameters_.size() - 1;
    double value = parameters_[pixels];
    for (size_t k = 0; k < pixels; ++k) {
      value += static_cast<double>(parameters_[k]) * batch_.images[sample * pixels + k];
    }
    return value - static_cast<double>(batch_.labels[sample]);
  }

  const std::vector<ParameterSpec> specs_;
  absl::Span<float> parameters_;
  absl::Span<float> gradients_;
  std::function<void(int)> ready_;
  Batch batch_;
};

}  // namespace ringside

#endif  // RINGSIDE_TESTS_WORKER_LINEAR_MODEL_H_
