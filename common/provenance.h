// Where results come from: which build, on which machine.
#ifndef RINGSIDE_COMMON_PROVENANCE_H_
#define RINGSIDE_COMMON_PROVENANCE_H_

#include "absl/time/time.h"
#include "results.pb.h"

namespace ringside {

// Build commit, type and compiler, kernel, CPU model, cores, memory, huge-page setting,
// `started_at`, and the versions of Abseil and Protobuf; whoever links gRPC or LibTorch adds
// theirs. What the system does not tell stays empty. Thread-safe.
Provenance ReadProvenance(absl::Time started_at);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_PROVENANCE_H_
