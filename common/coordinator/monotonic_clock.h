// The clock that leases and deadlines are measured by: unlike the time of day, nobody sets it.
#ifndef RINGSIDE_COMMON_COORDINATOR_MONOTONIC_CLOCK_H_
#define RINGSIDE_COMMON_COORDINATOR_MONOTONIC_CLOCK_H_

#include <chrono>

#include "absl/time/time.h"

namespace ringside {

// Counts from an arbitrary start (of the machine): only differences mean something.
inline absl::Time MonotonicNow() {
  return absl::UnixEpoch() + absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace ringside

#endif  // RINGSIDE_COMMON_COORDINATOR_MONOTONIC_CLOCK_H_
