// The flags of allreduce_bench.
#ifndef RINGSIDE_ALLREDUCE_BENCH_BENCH_FLAGS_H_
#define RINGSIDE_ALLREDUCE_BENCH_BENCH_FLAGS_H_

#include <string>

#include "absl/status/statusor.h"
#include "allreduce/bench/bench_config.h"

namespace ringside {

// INVALID_ARGUMENT: names the flag; the result has passed Validate.
absl::StatusOr<BenchConfig> BenchConfigFromFlags();

// How the bench starts its own rank processes.
struct RankRole {
  bool is_rank = false;
  std::string control;  // name of the parent's Unix socket
  int rank = -1;        // -1: mpirun's environment has it
};
// INVALID_ARGUMENT: another role than bench and rank, a rank without --control.
absl::StatusOr<RankRole> RankRoleFromFlags();

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_BENCH_BENCH_FLAGS_H_
