// Gradients of weights that a matrix product writes where they belong.
//
// LibTorch makes each gradient in memory of its own, from where it has to be copied into the
// parameter's buffer: for a linear layer that is two passes over as many numbers as the layer has
// weights, where the product itself is one. Here the product's output
// is the buffer: it replaces what stands there the first time after Clear, and adds to it from then
// on (a step of several micro-batches).
//
// Thread-compatible.
#ifndef RINGSIDE_WORKER_MODELS_DIRECT_GRADIENT_H_
#define RINGSIDE_WORKER_MODELS_DIRECT_GRADIENT_H_

#include <torch/torch.h>

namespace ringside {

// Of one weight. Until the first Clear the weight's gradient goes LibTorch's usual way.
class DirectGradient final : public torch::CustomClassHolder {
 public:
  explicit DirectGradient(torch::Tensor weight) : weight_(std::move(weight)) {}

  const torch::Tensor& weight() const { return weight_; }
  // What stands in the gradient is void.
  void Clear() { state_ = State::kVoid; }
  // Zeroes a gradient that is void.
  void Complete();
  // Adds a matrix product to the gradient; returns nothing then. Returns the product where the
  // gradient goes the usual way.
  torch::Tensor Add(const torch::Tensor& left, const torch::Tensor& right);

 private:
  enum class State { kUsual, kVoid, kValid };

  const torch::Tensor weight_;
  State state_ = State::kUsual;
};

// A layer that has one.
class DirectGradientLayer {
 public:
  virtual ~DirectGradientLayer() = default;
  virtual DirectGradient* direct_gradient() const = 0;
};

enum class WeightLayout { kOutputsByInputs, kInputsByOutputs };

// values x weight + bias over the last dimension of `values`. Under autocast, which works on copies
// of weights, the gradient goes the usual way.
torch::Tensor DirectLinear(const torch::Tensor& values, const torch::Tensor& bias,
                           const c10::intrusive_ptr<DirectGradient>& gradient, WeightLayout layout);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_MODELS_DIRECT_GRADIENT_H_
