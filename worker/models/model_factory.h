// Makes the model that --model names; the only switch on it. No LibTorch type in sight.
#ifndef RINGSIDE_WORKER_MODELS_MODEL_FACTORY_H_
#define RINGSIDE_WORKER_MODELS_MODEL_FACTORY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/models/model.h"

namespace ringside {

struct ModelConfig {
  std::string name = "mlp";                  // mlp, lenet
  std::vector<int64_t> hidden = {256, 128};  // of the mlp; may be empty
  int64_t rows = 28;                         // of an image
  int64_t columns = 28;
  int64_t classes = 10;
  int64_t seed = 1;
};

// INVALID_ARGUMENT: an unknown name, or images too small for the model. INTERNAL: what LibTorch
// threw.
absl::StatusOr<std::unique_ptr<Model>> CreateModel(const ModelConfig& config);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_MODELS_MODEL_FACTORY_H_
