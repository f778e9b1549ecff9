// Who can take part in allreduce_bench, and in which processes. Pure.
#ifndef RINGSIDE_ALLREDUCE_BENCH_CONTENDER_CATALOG_H_
#define RINGSIDE_ALLREDUCE_BENCH_CONTENDER_CATALOG_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ringside {

// The foreign libraries that this binary was built with.
struct BuiltBaselines {
  bool gloo = false;
  bool mpi = false;
};

struct Contender {
  enum class Kind { kOwn, kGloo, kMpi, kRawExchange, kMemory };

  std::string name;
  Kind kind = Kind::kOwn;
  // The group of processes that it runs in. All of a group share one environment.
  std::string group;
  std::string ceiling;  // name of the contender that bounds it; empty for ceilings
  // Of ours: the link. Of Gloo: the algorithm. Of the raw exchange: the transport.
  std::string variant;
  std::string schedule;   // of ours
  bool arenas = true;     // its buffers are shared arenas; false: ordinary heap
  bool in_place = false;  // cannot do otherwise without a copy
  bool even_ranks_only = false;

  bool is_ceiling() const { return kind == Kind::kRawExchange || kind == Kind::kMemory; }
  bool foreign() const { return kind == Kind::kGloo || kind == Kind::kMpi; }
};

// How the processes of a group are started.
struct RankGroupKind {
  std::string name;
  bool tuned_malloc = true;  // FACTS: memory is never given back to the kernel
  bool mpirun = false;
  bool mpi_over_tcp = false;
};

// By name, of what the library has; INVALID_ARGUMENT: no such contender, lists all.
absl::StatusOr<Contender> FindContender(absl::string_view name);
RankGroupKind FindGroup(absl::string_view name);

// The contenders that `names` asks for ("gloo" stands for three; empty: all of ours and the built
// baselines with tuned malloc), each once, and the ceilings that bound them, first.
// INVALID_ARGUMENT: an unknown name, or one that this build lacks.
absl::StatusOr<std::vector<Contender>> SelectContenders(const std::vector<std::string>& names,
                                                        const BuiltBaselines& built);

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_BENCH_CONTENDER_CATALOG_H_
