// The parameters of the model whose training is foretold, as far as they are known. Pure.
#ifndef RINGSIDE_EXPERIMENTS_MODEL_MODEL_SHAPES_H_
#define RINGSIDE_EXPERIMENTS_MODEL_MODEL_SHAPES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/parameter_spec.h"

namespace ringside {

// Value of `key` in "key=value,key=value"; empty where it is missing.
std::string ArgumentOf(absl::string_view arguments, absl::string_view key);

// A model of which no more than the number of parameters is known: tensors of 1 MiB.
std::vector<ParameterSpec> EvenShapes(int64_t elements);

// By --model and --model_args: a published model (its name, or shapes with preset=NAME), or else
// even ones of `elements`. `exact` is set to whether the shapes are known.
std::vector<ParameterSpec> ShapesOfModel(absl::string_view model, absl::string_view model_args,
                                         int64_t elements, bool* exact);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MODEL_MODEL_SHAPES_H_
