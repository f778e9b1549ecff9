// A workload of gradients without a model: any list of shapes, and a stated time to compute, so
// that one small machine can sweep the ratio of communication to compute.
//
// A step's time is a third forward and two thirds backward, as of most networks, where backward
// computes the gradients of weights and of activations. In backward, gradients become ready one
// parameter after another, the last of the model first, each when the share of the time that is its
// share of the elements is over: so communication overlaps as it would. Writing gradients is part
// of the time; where the time stated is not enough even for that, the step takes as long as it
// takes.
//
// Gradients look random, and are a function of the seed and of the labels in the batch: the same
// whoever plays the rank, different for each rank and step. The loss is 0.
//
// Free of LibTorch. Thread-compatible.
#ifndef RINGSIDE_WORKER_MODELS_SHAPES_MODEL_H_
#define RINGSIDE_WORKER_MODELS_SHAPES_MODEL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "worker/models/compute_pace.h"
#include "worker/models/model.h"

namespace ringside {

class ShapesModel final : public Model {
 public:
  struct Config {
    std::vector<ParameterSpec> shapes;
    absl::Duration compute;  // of one rank's forward and backward
    int64_t seed = 1;
    ComputePace pace;
  };

  // From "file=PATH" or "preset=NAME", and "compute_ms=X" (0 where it is missing),
  // "compute=sleep|spin" (sleep), "seed=N" (`seed`). INVALID_ARGUMENT: not exactly one of file and
  // preset, an unknown preset, a bad file, a bad argument. NOT_FOUND: no such file.
  static absl::StatusOr<std::unique_ptr<ShapesModel>> Create(const std::string& model_args,
                                                             int64_t seed);
  explicit ShapesModel(Config config);

  const std::vector<ParameterSpec>& Parameters() const override { return config_.shapes; }
  absl::Status Bind(absl::Span<float> parameters, absl::Span<float> gradients,
                    std::function<void(int parameter)> parameter_ready) override;
  absl::StatusOr<double> Forward(const Batch& batch) override;
  void ClearGradients() override;
  absl::Status Backward(double weight) override;
  void CompleteGradients() override {}
  // Nothing is right or wrong here: counts samples alone.
  absl::StatusOr<EvaluationSums> Evaluate(const Batch& batch) override;

 private:
  const Config config_;
  const int64_t elements_;
  const std::vector<float> table_;  // what values are taken from, from a place that varies

  absl::Span<float> gradients_;
  std::function<void(int parameter)> parameter_ready_;
  uint64_t batch_key_ = 0;  // of the last Forward
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_MODELS_SHAPES_MODEL_H_
