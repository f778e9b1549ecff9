// Layer-wise adaptive rate scaling: You, Gitman, Ginsburg 2017, "Large Batch Training of
// Convolutional Networks", algorithm 1.
//
// With gradient g of a parameter w (a whole tensor), global rate r, weight decay b, momentum m and
// trust coefficient t:
//   local = t * |w| / (|g| + b * |w| + epsilon)
//   v     = m * v + r * local * (g + b * w)
//   w     = w - v
// The rate is inside of the velocity, as in the paper. Where |w| or |g| is 0, local is 1. As is
// usual, parameters of one dimension or none (biases, scales and shifts of norms) are neither
// adapted nor decayed: for them local is 1 and b is 0. Norms are accumulated in double and in a
// fixed order (common/gradient_norm.h), everything by element is float, so all processes get the
// same bits. Thread-compatible.
#ifndef RINGSIDE_COMMON_LARS_H_
#define RINGSIDE_COMMON_LARS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/arena.h"
#include "common/element_range.h"
#include "common/optimizer.h"
#include "common/parameter_spec.h"

namespace ringside {

class Lars final : public Optimizer {
 public:
  // `config` has been validated. RESOURCE_EXHAUSTED: no memory for the velocity.
  static absl::StatusOr<std::unique_ptr<Optimizer>> Create(
      const OptimizerConfig& config, const std::vector<ParameterSpec>& parameters);

  void Apply(int64_t step, double learning_rate, absl::Span<const float> gradients,
             absl::Span<float> parameters) override;
  bool needs_norms() const override { return true; }
  void Prepare(absl::Span<const double> gradient_norms,
               absl::Span<const float> parameters) override;
  void ApplyRange(int64_t step, double learning_rate, int64_t begin,
                  absl::Span<const float> gradients, absl::Span<float> parameters) override;
  std::vector<absl::Span<float>> State() override { return {velocity_->span()}; }

 private:
  struct Layer {
    ElementRange range;
    bool adapted = false;  // and decayed
    double local = 1;      // of the step that was prepared
  };

  Lars(const OptimizerConfig& config, std::vector<Layer> layers, std::unique_ptr<Arena> velocity);

  void ApplyToLayer(const Layer& layer, double learning_rate, ElementRange part,
                    const float* gradient, float* parameter);

  const double trust_;
  const double decay_;
  const double epsilon_;
  const float momentum_;
  std::vector<Layer> layers_;  // in model order, without gaps
  const std::unique_ptr<Arena> velocity_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_LARS_H_
