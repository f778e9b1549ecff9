// A list of shapes as a text file: one parameter a line, in model order, its name and then its
// extents, separated by blanks. '#' begins a comment. Example:
//
//   embedding.weight 50000 256   # rows first
//   output.bias      50000
#ifndef RINGSIDE_WORKER_MODELS_SHAPE_FILE_H_
#define RINGSIDE_WORKER_MODELS_SHAPE_FILE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/parameter_spec.h"

namespace ringside {

// Pure. `path` appears in errors. INVALID_ARGUMENT, naming path and line: no extents, an extent
// that is no whole number from 1, a name that was there before, more than 2^36 elements in all, or
// no parameter at all.
absl::StatusOr<std::vector<ParameterSpec>> ParseShapes(const std::string& path,
                                                       absl::string_view text);

// NOT_FOUND: the file cannot be read; says why, and what such a file holds. INVALID_ARGUMENT as
// above.
absl::StatusOr<std::vector<ParameterSpec>> ReadShapeFile(const std::string& path);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_MODELS_SHAPE_FILE_H_
