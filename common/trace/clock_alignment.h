// How the monotonic clocks of the processes of a job stand to each other. Pure.
//
// Each process asks the coordinator for the time and notes its own before and after. Of several
// such round trips the shortest says most: the coordinator read its clock somewhere within it, so
// the middle is wrong by no more than half of it, however the two ways differ (Cristian,
// "Probabilistic clock synchronization", Distributed Computing 3, 1989).
#ifndef RINGSIDE_COMMON_TRACE_CLOCK_ALIGNMENT_H_
#define RINGSIDE_COMMON_TRACE_CLOCK_ALIGNMENT_H_

#include <cstdint>

#include "absl/types/span.h"
#include "trace.pb.h"

namespace ringside {

// One question and its answer, in nanoseconds.
struct ClockRoundTrip {
  int64_t sent = 0;      // by the own clock
  int64_t answered = 0;  // by the coordinator's
  int64_t received = 0;  // by the own clock
};

// REQUIRES: there are some. `one_machine`: the two processes run on one, so that both read the same
// clock, unless the round trips show otherwise: then there is neither offset nor error.
ClockReading ReadingOf(absl::Span<const ClockRoundTrip> trips, bool one_machine);

// What the coordinator's clock shows when the process's own shows `own_ns`. Between the two
// readings the offset changes evenly; before the first and after the last it stays as it was.
int64_t CoordinatorTime(const ClockAlignment& clock, int64_t own_ns);

// By how much CoordinatorTime may be wrong at most, as long as the drift is even.
int64_t ErrorBoundNs(const ClockAlignment& clock);

// How much the own clock loses against the coordinator's: 1 is a microsecond in a second. 0: there
// are no two readings.
double DriftPpm(const ClockAlignment& clock);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_TRACE_CLOCK_ALIGNMENT_H_
