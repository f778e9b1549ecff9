// The flags of ps_bench.
#ifndef RINGSIDE_WORKER_BENCH_PS_BENCH_FLAGS_H_
#define RINGSIDE_WORKER_BENCH_PS_BENCH_FLAGS_H_

#include <string>

#include "absl/status/statusor.h"
#include "common/config/flag_parser.h"
#include "worker/bench/ps_bench_config.h"

namespace ringside {

// INVALID_ARGUMENT: names the flag; the result has passed Validate. `line`: which flags were given;
// the others have their defaults, or those of --smoke.
absl::StatusOr<PsBenchConfig> PsBenchConfigFromFlags(const CommandLine& line);

// How the bench starts its own processes.
struct MemberRole {
  bool is_member = false;
  std::string control;  // name of the parent's Unix socket
  int rank = -1;        // workers first, then shards
};
// INVALID_ARGUMENT: another role than bench and rank, a rank without --control or --rank.
absl::StatusOr<MemberRole> MemberRoleFromFlags();

}  // namespace ringside

#endif  // RINGSIDE_WORKER_BENCH_PS_BENCH_FLAGS_H_
