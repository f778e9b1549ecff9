// The text of a sweep's spec, parsed, with the place of every field in it. Pure.
#ifndef RINGSIDE_EXPERIMENTS_SWEEP_SPEC_SOURCE_H_
#define RINGSIDE_EXPERIMENTS_SWEEP_SPEC_SOURCE_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sweep.pb.h"

namespace ringside {

struct SpecSource {
  std::string name;  // of the file, for messages
  std::string text;
  SweepSpec spec;
  // Path of a field that is set, e.g. "vary[1].values[0]" -> its line, counted from 1.
  std::map<std::string, int> lines;

  // INVALID_ARGUMENT "<name>:<line>: <path>: <problem>"; without the line where the field is not
  // set, without the path where it is empty.
  absl::Status Error(absl::string_view path, absl::string_view problem) const;
};

// INVALID_ARGUMENT: not the text format of a SweepSpec; has the name, line and field.
absl::StatusOr<SpecSource> ParseSpec(const std::string& name, const std::string& text);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SWEEP_SPEC_SOURCE_H_
