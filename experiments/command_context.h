// What a subcommand of `ringside` gets from main.
#ifndef RINGSIDE_EXPERIMENTS_COMMAND_CONTEXT_H_
#define RINGSIDE_EXPERIMENTS_COMMAND_CONTEXT_H_

#include <string>
#include <vector>

#include "common/config/flag_parser.h"
#include "common/launch/launch_identity.h"

namespace ringside {

struct CommandContext {
  std::vector<std::string> argv;  // of this process, for the record
  CommandLine command_line;       // without the name of the subcommand
  Environment environment;
  std::string binary_dir;  // where `ringside`, `worker` and `ps_server` lie
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_COMMAND_CONTEXT_H_
