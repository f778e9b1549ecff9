#include "allreduce/bench/group_command.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace ringside {
namespace {

// Memory once had is never given back: a first touch costs about 12 us a page on virtual machines.
constexpr const char* kTunedMalloc[] = {"GLIBC_TUNABLES=glibc.malloc.hugetlb=1",
                                        "MALLOC_MMAP_MAX_=0", "MALLOC_TRIM_THRESHOLD_=100000000000",
                                        "MALLOC_TOP_PAD_=67108864", "MALLOC_ARENA_MAX=1"};

// Malloc settings, and what would make mpirun believe that it runs inside another job.
bool IsLeftOut(absl::string_view variable) {
  constexpr absl::string_view kPrefixes[] = {"GLIBC_TUNABLES=", "MALLOC_", "OMPI_",
                                             "PMIX_",           "PMI_",    "SLURM_"};
  return std::any_of(
      std::begin(kPrefixes), std::end(kPrefixes),
      [variable](absl::string_view prefix) { return absl::StartsWith(variable, prefix); });
}

std::vector<std::string> MpirunOptions(const RankGroupKind& group, int world_size, bool as_root) {
  std::vector<std::string> options = {"mpirun", "--oversubscribe", "--bind-to", "none",
                                      "--tag-output"};
  if (as_root) options.push_back("--allow-run-as-root");
  if (group.mpi_over_tcp) {
    // Over the loopback interface, as everybody else here.
    options.insert(options.end(), {"--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca",
                                   "btl_tcp_if_include", "lo"});
  }
  options.insert(options.end(), {"-n", absl::StrCat(world_size)});
  return options;
}

}  // namespace

GroupCommand MakeGroupCommand(const RankGroupKind& group, int world_size, const std::string& binary,
                              const std::string& control, bool as_root,
                              const std::vector<std::string>& base_environment) {
  GroupCommand command;
  for (const std::string& variable : base_environment) {
    if (!IsLeftOut(variable)) command.environment.push_back(variable);
  }
  if (group.tuned_malloc) {
    command.environment.insert(command.environment.end(), std::begin(kTunedMalloc),
                               std::end(kTunedMalloc));
  }
  const std::vector<std::string> rank_argv = {binary, "--role=rank",
                                              absl::StrCat("--control=", control)};
  if (group.mpirun) {
    command.argvs.push_back(MpirunOptions(group, world_size, as_root));
    command.argvs[0].insert(command.argvs[0].end(), rank_argv.begin(), rank_argv.end());
    return command;
  }
  for (int rank = 0; rank < world_size; ++rank) {
    command.argvs.push_back(rank_argv);
    command.argvs.back().push_back(absl::StrCat("--rank=", rank));
  }
  return command;
}

std::string MpirunTag(int rank) { return absl::StrCat("[1,", rank, "]<stderr>:"); }

}  // namespace ringside
