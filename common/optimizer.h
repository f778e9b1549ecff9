// Optimizers over flat buffers, the same code on workers and servers. The oracle is torch::optim
// (tests/worker).
//
// An optimizer owns the state of one range of the parameters (all of it on a worker), and may
// update it in parts: every formula is by element, so the bits do not depend on how the range is
// cut. The learning rate is an argument of every update, since schedules change it
// (common/learning_rate.h). Thread-compatible. Nothing is allocated after Create. Formulas: SGD
// with momentum as in PyTorch (Sutskever et al. 2013, dampening 0), Adam (Kingma & Ba 2015), AdamW
// (Loshchilov & Hutter 2019), LARS (common/lars.h), whose formula is by element too once the norms
// of a step's gradient are known.
#ifndef RINGSIDE_COMMON_OPTIMIZER_H_
#define RINGSIDE_COMMON_OPTIMIZER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/parameter_spec.h"

namespace ringside {

struct OptimizerConfig {
  std::string name = "sgd";     // sgd, adam, adamw, lars
  double learning_rate = 0.05;  // the base rate, which a schedule starts from
  double momentum = 0;          // sgd, lars
  bool nesterov = false;        // sgd; needs momentum
  double weight_decay = 0;      // added to the gradient (sgd, adam, lars) or decoupled (adamw)
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double lars_trust = 0.001;  // lars

  // INVALID_ARGUMENT names the field, its value and what is allowed.
  absl::Status Validate() const;
};

class Optimizer {
 public:
  // For any range of `elements` elements. INVALID_ARGUMENT as Validate, and for lars, which must
  // know where parameters begin and end. RESOURCE_EXHAUSTED: no memory for the state.
  static absl::StatusOr<std::unique_ptr<Optimizer>> Create(const OptimizerConfig& config,
                                                           int64_t elements);
  // For all parameters of a model, one after another. Errors as above, lars excepted.
  static absl::StatusOr<std::unique_ptr<Optimizer>> Create(
      const OptimizerConfig& config, const std::vector<ParameterSpec>& parameters);
  virtual ~Optimizer() = default;

  int64_t elements() const { return elements_; }

  // Applies one update to everything. `step` counts from 1. Lengths equal `elements`.
  virtual void Apply(int64_t step, double learning_rate, absl::Span<const float> gradients,
                     absl::Span<float> parameters);

  // Whether Prepare must come before the first ApplyRange of every step.
  virtual bool needs_norms() const { return false; }
  // `gradient_norms`: the L2 norms of the gradient that is to be applied, by parameter.
  // `parameters`: all of them, as they are before the update.
  virtual void Prepare(absl::Span<const double> /*gradient_norms*/,
                       absl::Span<const float> /*parameters*/) {}

  // Applies the update of `step` to the elements [begin, begin + length) of the range that the
  // optimizer owns, which is what the spans hold. Every element is updated once a step; in which
  // parts and which order makes no difference, and several threads may update parts that do not
  // overlap at once.
  virtual void ApplyRange(int64_t step, double learning_rate, int64_t begin,
                          absl::Span<const float> gradients, absl::Span<float> parameters) = 0;

  // What it remembers from step to step, each of `elements` floats, to be saved and restored: the
  // velocity (sgd with momentum, lars), mean and square (adam, adamw), or nothing (plain sgd). The
  // spans stay valid as long as the optimizer; their number and order depend on the config alone.
  virtual std::vector<absl::Span<float>> State() = 0;

 protected:
  explicit Optimizer(int64_t elements) : elements_(elements) {}
  // CHECKs that [begin, begin + length) lies in the range and that both spans have that length.
  void CheckRange(int64_t begin, absl::Span<const float> gradients,
                  absl::Span<const float> parameters) const;

 private:
  const int64_t elements_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_OPTIMIZER_H_
