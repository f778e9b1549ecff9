#include "worker/models/model_factory.h"

#include <exception>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "worker/models/lenet.h"
#include "worker/models/mlp.h"
#include "worker/models/torch_model.h"

namespace ringside {

absl::StatusOr<std::unique_ptr<Model>> CreateModel(const ModelConfig& config) {
  try {
    if (config.name == "mlp") {
      const int64_t pixels = config.rows * config.columns;
      return std::make_unique<TorchModel>(MakeMlp(pixels, config.hidden, config.classes),
                                          std::vector<int64_t>{pixels}, config.seed);
    }
    if (config.name == "lenet") {
      if (config.rows < kLenetLeastExtent || config.columns < kLenetLeastExtent) {
        return absl::InvalidArgumentError(
            absl::StrCat("--model=lenet: images of ", config.rows, "x", config.columns,
                         " are too small, it needs ", kLenetLeastExtent, "x", kLenetLeastExtent));
      }
      return std::make_unique<TorchModel>(MakeLenet(config.rows, config.columns, config.classes),
                                          std::vector<int64_t>{1, config.rows, config.columns},
                                          config.seed);
    }
  } catch (const std::exception& error) {
    return absl::InternalError(absl::StrCat("--model=", config.name, ": ", error.what()));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--model=", config.name, ": must be one of mlp, lenet"));
}

}  // namespace ringside
