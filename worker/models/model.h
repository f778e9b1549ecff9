// What is trained: a batch goes in, a loss comes out, and gradients appear in a flat buffer. No
// LibTorch type in sight.
//
// Thread-compatible: all calls come from one thread.
#ifndef RINGSIDE_WORKER_MODELS_MODEL_H_
#define RINGSIDE_WORKER_MODELS_MODEL_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/parameter_spec.h"
#include "worker/models/batch.h"

namespace ringside {

// What a model keeps besides its parameters and no gradient changes: the running means and
// variances of batch normalisation (floats) and how many batches they have seen (counters, of dtype
// "int64"). Each list in model order.
struct BufferSpecs {
  std::vector<ParameterSpec> floats;
  std::vector<ParameterSpec> counters;
};

class Model {
 public:
  virtual ~Model() = default;

  // Name and shape of every parameter in model order, the order of the arena.
  virtual const std::vector<ParameterSpec>& Parameters() const = 0;

  // Called once, before all that follows. Writes the initial parameters, a function of the seed
  // alone, into `parameters` and from then on computes with what stands there; gradients appear
  // in `gradients`. Both have TotalElements(Parameters()) elements and outlive the
  // model. `parameter_ready` is called in Backward, on its thread, as soon as the gradient of a
  // parameter (model order) is complete; not at all for one that took no part. INVALID_ARGUMENT: a
  // length differs.
  virtual absl::Status Bind(absl::Span<float> parameters, absl::Span<float> gradients,
                            std::function<void(int parameter)> parameter_ready) = 0;

  // The mean loss over the samples of a batch that is not empty. The loss of a sample is the mean
  // over those of its labels that are not ignored, 0 where all are. With dropout and the statistics
  // of the batch, which also move the buffers. INVALID_ARGUMENT, here and below: the lengths of the
  // batch are not those of the model's samples. INTERNAL, here and below: what LibTorch threw.
  virtual absl::StatusOr<double> Forward(const Batch& batch) = 0;

  // A step's gradients: ClearGradients voids those of the step before, each Backward adds those of
  // `weight` times the loss of the last Forward, and CompleteGradients zeroes those of parameters
  // that took no part. Until then only gradients that are ready may be read.
  virtual void ClearGradients() = 0;
  virtual absl::Status Backward(double weight) = 0;
  virtual void CompleteGradients() = 0;

  // Without dropout and with the statistics in the buffers. No gradients are made; parameters and
  // buffers stay as they are.
  virtual absl::StatusOr<EvaluationSums> Evaluate(const Batch& batch) = 0;

  // Why the gradients and buffers of a step depend, beyond rounding, on how the global batch is cut
  // into ranks and micro-batches, e.g. "dropout"; empty: they do not.
  virtual std::string DependsOnCut() const { return ""; }

  // Names and shapes of the buffers; a model that has none need not override these.
  virtual const BufferSpecs& Buffers() const;
  // Copies the buffers out and in, one after another in the order of Buffers(). INVALID_ARGUMENT: a
  // length differs.
  virtual absl::Status ReadBuffers(absl::Span<float> floats, absl::Span<int64_t> counters) const;
  virtual absl::Status WriteBuffers(absl::Span<const float> floats,
                                    absl::Span<const int64_t> counters);
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_MODELS_MODEL_H_
