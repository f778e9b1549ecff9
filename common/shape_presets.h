// The parameters of published models, name by name: for workloads that need a model's sizes but not
// its arithmetic. Names, shapes and order are those of named_parameters() of torchvision and, for
// gpt2, of Hugging Face's GPT2LMHeadModel, whose output layer is the embedding.
//
// Pure; safe from any thread.
#ifndef RINGSIDE_COMMON_SHAPE_PRESETS_H_
#define RINGSIDE_COMMON_SHAPE_PRESETS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/parameter_spec.h"

namespace ringside {

// resnet18, resnet50, resnet101, vgg16, deeplabv3_resnet101 (21 classes, with the auxiliary head),
// gpt2 (the smallest, of 124 M).
const std::vector<std::string>& KnownShapePresets();

// INVALID_ARGUMENT: an unknown name; says which there are.
absl::StatusOr<std::vector<ParameterSpec>> PresetShapes(absl::string_view name);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_SHAPE_PRESETS_H_
