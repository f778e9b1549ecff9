// How long the communication of a step takes, and how much of it backward hides.
//
// Communication goes on while at least one bucket is submitted and not yet summed. What of that
// happens before backward has ended is hidden: the process computes meanwhile. What comes after is
// exposed: the process waits for it.
//
//   backward   |=====================|
//   buckets        |--a--|    |---b--------|
//                  <hidden>   <hidden><exposed>
//
// Pure: it is told the time. Thread-compatible: a summer uses it under its own lock.
#ifndef RINGSIDE_WORKER_SYNCHRONIZERS_COMMUNICATION_CLOCK_H_
#define RINGSIDE_WORKER_SYNCHRONIZERS_COMMUNICATION_CLOCK_H_

#include <cstdint>

#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "worker/synchronizers/gradient_synchronizer.h"

namespace ringside {

// Times must not decrease from call to call.
class CommunicationClock {
 public:
  // A bucket is under way, in so many parts. The first one begins a step.
  void Submitted(absl::Time now, int64_t parts = 1);
  // One of the parts is summed.
  void Summed(absl::Time now);
  // Only the first call of a step counts: at the first bucket that is submitted after backward, or
  // else in Finish.
  void BackwardEnded(absl::Time now);
  // All sums are there; ends the step. Exposed is the time since BackwardEnded, so it contains the
  // wake-up of the waiting thread, and nothing but that where everything was hidden.
  CommunicationTimes Finished(absl::Time now);

 private:
  int64_t under_way_ = 0;  // parts
  absl::Time since_;       // when under_way_ last left 0
  absl::Duration hidden_;
  absl::optional<absl::Time> backward_ended_;
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_SYNCHRONIZERS_COMMUNICATION_CLOCK_H_
