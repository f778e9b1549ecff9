// With which commands and in which environment the processes of a group are started. Pure.
#ifndef RINGSIDE_ALLREDUCE_BENCH_GROUP_COMMAND_H_
#define RINGSIDE_ALLREDUCE_BENCH_GROUP_COMMAND_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "allreduce/bench/contender_catalog.h"

namespace ringside {

struct GroupCommand {
  std::vector<std::vector<std::string>> argvs;  // one process each
  std::vector<std::string> environment;         // "NAME=value"
};

// One process a rank, or one mpirun that starts them all. `control` is the name of the Unix socket
// that they connect to; mpirun does not work for root unless it is told that this is meant.
GroupCommand MakeGroupCommand(const RankGroupKind& group, int world_size, const std::string& binary,
                              const std::string& control, bool as_root,
                              const std::vector<std::string>& base_environment);

// What mpirun puts before every line of a rank's standard error.
std::string MpirunTag(int rank);

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_BENCH_GROUP_COMMAND_H_
