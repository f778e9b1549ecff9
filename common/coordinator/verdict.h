// A verdict as the status that ends calls and processes. Pure.
#ifndef RINGSIDE_COMMON_COORDINATOR_VERDICT_H_
#define RINGSIDE_COMMON_COORDINATOR_VERDICT_H_

#include <utility>

#include "absl/status/status.h"
#include "common/suspects.h"
#include "coordinator.pb.h"

namespace ringside {

// ABORTED, with the verdict's reason as message and the culprit, where there is one, as suspect.
inline absl::Status ToStatus(const Verdict& verdict) {
  absl::Status status = absl::AbortedError(verdict.reason());
  if (verdict.culprit().role() == ROLE_UNSPECIFIED) return status;
  return WithSuspects(std::move(status), {verdict.culprit()});
}

}  // namespace ringside

#endif  // RINGSIDE_COMMON_COORDINATOR_VERDICT_H_
