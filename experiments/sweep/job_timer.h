// Ends a job that takes too long.
#ifndef RINGSIDE_EXPERIMENTS_SWEEP_JOB_TIMER_H_
#define RINGSIDE_EXPERIMENTS_SWEEP_JOB_TIMER_H_

#include <time.h>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace ringside {

// Sends this process SIGTERM once a limit is over, which the launcher takes as a wish to end the
// job. Call BlockJobSignals() before. Thread-compatible.
class JobTimer {
 public:
  JobTimer() = default;
  // Nothing is sent any more, and what was sent and not taken is taken.
  ~JobTimer();
  JobTimer(const JobTimer&) = delete;
  JobTimer& operator=(const JobTimer&) = delete;

  // Once. An infinite limit never ends. RESOURCE_EXHAUSTED: the kernel has no timer to give.
  absl::Status Start(absl::Duration limit);
  // Whether the limit is over.
  bool Expired() const;

 private:
  bool armed_ = false;
  timer_t timer_ = {};
  absl::Time deadline_ = absl::InfiniteFuture();  // monotonic
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SWEEP_JOB_TIMER_H_
