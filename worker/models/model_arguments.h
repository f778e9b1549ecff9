// The sizes of a model as --model_args gives them. A model names the keys it has:
//
//   int64_t classes = 10;
//   ModelArguments arguments("resnet18", text);
//   arguments.Integer("classes", 1, &classes);
//   RINGSIDE_RETURN_IF_ERROR(arguments.Finish());
//
// Thread-compatible.
#ifndef RINGSIDE_WORKER_MODELS_MODEL_ARGUMENTS_H_
#define RINGSIDE_WORKER_MODELS_MODEL_ARGUMENTS_H_

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/key_value_arguments.h"

namespace ringside {

class ModelArguments : public KeyValueArguments {
 public:
  // `model` appears in errors.
  ModelArguments(absl::string_view model, absl::string_view text)
      : KeyValueArguments("model_args", absl::StrCat("--model=", model), text) {}
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_MODELS_MODEL_ARGUMENTS_H_
