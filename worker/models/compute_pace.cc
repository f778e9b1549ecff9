#include "worker/models/compute_pace.h"

#include <time.h>

#include <cerrno>
#include <chrono>

namespace ringside {
namespace {

absl::Duration Now() {
  return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace

ComputePace SleepingPace() {
  return {Now, [](absl::Duration until) {
            const timespec end = absl::ToTimespec(until);
            while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, nullptr) == EINTR) {
            }
          }};
}

ComputePace SpinningPace() {
  return {Now, [](absl::Duration until) {
            while (Now() < until) {
            }
          }};
}

}  // namespace ringside
