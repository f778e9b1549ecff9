// In what a model computes: --precision.
//
// Pure; safe from any thread.
#ifndef RINGSIDE_WORKER_MODELS_PRECISION_H_
#define RINGSIDE_WORKER_MODELS_PRECISION_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ringside {

enum class Precision {
  kFloat32,
  // Mixed (Micikevicius et al. 2018, "Mixed precision training"; Kalamkar et al. 2019, "A study of
  // BFLOAT16 for deep learning training"): matrix products and convolutions round their operands
  // and results to bfloat16. Parameters, gradients, running statistics and the loss are float32.
  kBFloat16,
};

// "fp32", "bf16". INVALID_ARGUMENT: anything else; names --precision and what is allowed.
absl::StatusOr<Precision> ParsePrecision(absl::string_view name);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_MODELS_PRECISION_H_
