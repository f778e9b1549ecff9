// Who takes part in ps_bench. Pure.
#ifndef RINGSIDE_WORKER_BENCH_PS_CONTENDERS_H_
#define RINGSIDE_WORKER_BENCH_PS_CONTENDERS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ringside {

struct PsContender {
  enum class Kind {
    kServer,       // ps/LINK: the real server and the real worker's end of it
    kRawCallback,  // raw/LINK/callback: the same frames, echoed by gRPC's callback API
    kRawSync,      // raw/LINK/sync: the same by its synchronous API
    kMemory,       // memory: what a server without any transport adds and copies
    kFold,         // fold: one shard's state machine alone
    kAdd,          // add: the plain kernels doing the work of `fold`
  };

  std::string name;
  Kind kind = Kind::kServer;
  std::string link;     // empty: none
  std::string ceiling;  // see PsMeasurement
};

// Those of `links`, the server only where it has the link (`server_links`), ceilings first; `fold`
// and `add` always.
std::vector<PsContender> PsContendersOf(const std::vector<std::string>& links,
                                        const std::vector<std::string>& server_links);
// Those of `all` that `names` has; all where it is empty. INVALID_ARGUMENT: a name that is not
// among them; lists those that are.
absl::StatusOr<std::vector<PsContender>> SelectPsContenders(const std::vector<PsContender>& all,
                                                            const std::vector<std::string>& names);
// By name. INVALID_ARGUMENT: no such contender.
absl::StatusOr<PsContender> FindPsContender(absl::string_view name);

// Whether `ceiling` of a contender means the contender `name`: "raw/grpc_tcp" means all that begin
// with "raw/grpc_tcp/".
bool IsCeiling(absl::string_view ceiling, absl::string_view name);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_BENCH_PS_CONTENDERS_H_
