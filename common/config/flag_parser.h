// Command lines over Abseil's flags, with errors that name the culprit.
//
// absl::ParseCommandLine ends the process with status 1 on an unknown flag; we want one line, a
// suggestion and status 2. So this parser walks argv itself and sets the flags through Abseil's
// public reflection.
#ifndef RINGSIDE_COMMON_CONFIG_FLAG_PARSER_H_
#define RINGSIDE_COMMON_CONFIG_FLAG_PARSER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ringside {

struct CommandLine {
  std::vector<std::string> positional;
  std::vector<std::string> given;  // names of the flags that appeared
  bool help = false;               // --help was given

  bool Has(absl::string_view flag) const;
};

// Accepts --name=value, --name value, --bool_flag, --nobool_flag, one dash or two; "--" ends the
// flags. INVALID_ARGUMENT: unknown flag (with the nearest known name), missing or malformed value.
absl::StatusOr<CommandLine> ParseFlags(int argc, const char* const* argv);

// Every flag of this project with its help and default, for --help.
std::string FlagHelp();

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CONFIG_FLAG_PARSER_H_
