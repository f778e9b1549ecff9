#include "experiments/model/model_shapes.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/shape_presets.h"

namespace ringside {

std::string ArgumentOf(absl::string_view arguments, absl::string_view key) {
  for (const absl::string_view argument : absl::StrSplit(arguments, ',')) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(argument, absl::MaxSplits('=', 1));
    if (parts.first == key) return std::string(parts.second);
  }
  return "";
}

std::vector<ParameterSpec> EvenShapes(int64_t elements) {
  constexpr int64_t kTensorElements = 256 << 10;
  std::vector<ParameterSpec> shapes;
  for (int64_t left = elements; left > 0; left -= kTensorElements) {
    shapes.push_back(
        {absl::StrCat("tensor.", shapes.size()), {std::min(left, kTensorElements)}, "float32"});
  }
  return shapes;
}

std::vector<ParameterSpec> ShapesOfModel(absl::string_view model, absl::string_view model_args,
                                         int64_t elements, bool* exact) {
  const absl::string_view name = model;
  const std::string preset = model == "shapes" ? ArgumentOf(model_args, "preset") : "";
  const auto shapes = PresetShapes(preset.empty() ? name : absl::string_view(preset));
  *exact = shapes.ok() && (elements == 0 || TotalElements(*shapes) == elements);
  return *exact ? *shapes : EvenShapes(elements);
}

}  // namespace ringside
