// What is trained: a batch goes in, a loss comes out, and gradients appear in a flat buffer. No
// LibTorch type in sight.
//
// Thread-compatible: all calls come from one thread.
#ifndef RINGSIDE_WORKER_MODELS_MODEL_H_
#define RINGSIDE_WORKER_MODELS_MODEL_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/parameter_spec.h"

namespace ringside {

// Lent for the duration of a call, and from Forward to the Backward that follows it.
struct Batch {
  absl::Span<const float> images;  // one after another
  absl::Span<const int64_t> labels;

  int64_t size() const { return static_cast<int64_t>(labels.size()); }
};

struct EvaluationSums {
  int64_t correct = 0;
  int64_t samples = 0;
  double loss = 0;  // summed over the samples
};

class Model {
 public:
  virtual ~Model() = default;

  // Name and shape of every parameter in model order, the order of the arena.
  virtual const std::vector<ParameterSpec>& Parameters() const = 0;

  // Called once, before all that follows. Writes the initial parameters, a function of the seed
  // alone, into `parameters` and from then on computes with what stands there; gradients are added
  // to what stands in `gradients`. Both have TotalElements(Parameters()) elements and outlive the
  // model. `parameter_ready` is called in Backward, on its thread, as soon as the gradient of a
  // parameter (model order) is complete. INVALID_ARGUMENT: a length differs.
  virtual absl::Status Bind(absl::Span<float> parameters, absl::Span<float> gradients,
                            std::function<void(int parameter)> parameter_ready) = 0;

  // The mean loss over a batch that is not empty. INTERNAL, here and below: what LibTorch threw.
  virtual absl::StatusOr<double> Forward(const Batch& batch) = 0;

  // Adds the gradients of `weight` times the loss of the last Forward. The caller zeroes them
  // before each step.
  virtual absl::Status Backward(double weight) = 0;

  // No gradients are made, and parameters stay as they are.
  virtual absl::StatusOr<EvaluationSums> Evaluate(const Batch& batch) = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_MODELS_MODEL_H_
