// Optimizers over flat buffers, the same code on workers and servers. The oracle is torch::optim
// (tests/worker).
//
// An optimizer owns the state of one range of the parameters (all of it on a worker).
// Thread-compatible. Nothing is allocated after Create. Formulas: SGD with momentum as in PyTorch
// (Sutskever et al. 2013, dampening 0), Adam (Kingma & Ba 2015), AdamW (Loshchilov & Hutter 2019).
#ifndef RINGSIDE_COMMON_OPTIMIZER_H_
#define RINGSIDE_COMMON_OPTIMIZER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace ringside {

struct OptimizerConfig {
  std::string name = "sgd";  // sgd, adam, adamw
  double learning_rate = 0.05;
  double momentum = 0;      // sgd
  bool nesterov = false;    // sgd; needs momentum
  double weight_decay = 0;  // added to the gradient (sgd, adam) or decoupled (adamw)
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;

  // INVALID_ARGUMENT names the field, its value and what is allowed.
  absl::Status Validate() const;
};

class Optimizer {
 public:
  // For `elements` parameters. INVALID_ARGUMENT as Validate.
  static absl::StatusOr<std::unique_ptr<Optimizer>> Create(const OptimizerConfig& config,
                                                           int64_t elements);
  virtual ~Optimizer() = default;

  // Applies one update. `step` counts from 1. Lengths equal `elements`.
  virtual void Apply(int64_t step, absl::Span<const float> gradients,
                     absl::Span<float> parameters) = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_OPTIMIZER_H_
