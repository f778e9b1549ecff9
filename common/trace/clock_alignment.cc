#include "common/trace/clock_alignment.h"

#include <algorithm>
#include <cmath>

#include "common/check.h"

namespace ringside {
namespace {

// Whether the two readings span a time, so that a drift can be told.
bool HasDrift(const ClockAlignment& clock) {
  return clock.has_first() && clock.has_last() && clock.last().at_ns() > clock.first().at_ns();
}

}  // namespace

ClockReading ReadingOf(absl::Span<const ClockRoundTrip> trips, bool one_machine) {
  RINGSIDE_CHECK(!trips.empty());
  const ClockRoundTrip& best = *std::min_element(
      trips.begin(), trips.end(),
      [](const auto& a, const auto& b) { return a.received - a.sent < b.received - b.sent; });
  const int64_t round_trip = best.received - best.sent;
  const int64_t middle = best.sent + round_trip / 2;
  ClockReading reading;
  reading.set_at_ns(middle);
  reading.set_offset_ns(best.answered - middle);
  reading.set_error_ns(round_trip - round_trip / 2);
  // Each round trip must allow for it: in a time namespace of its own a process of the same machine
  // reads another clock.
  const bool agree = std::all_of(trips.begin(), trips.end(), [](const ClockRoundTrip& trip) {
    return trip.sent <= trip.answered && trip.answered <= trip.received;
  });
  if (one_machine && agree) {
    reading.set_offset_ns(0);
    reading.set_error_ns(0);
  }
  return reading;
}

int64_t CoordinatorTime(const ClockAlignment& clock, int64_t own_ns) {
  const int64_t first = clock.first().offset_ns();
  if (!HasDrift(clock)) return own_ns + first;
  const int64_t within = std::max(clock.first().at_ns(), std::min(clock.last().at_ns(), own_ns)) -
                         clock.first().at_ns();
  const double share = static_cast<double>(within) /
                       static_cast<double>(clock.last().at_ns() - clock.first().at_ns());
  const auto change = static_cast<double>(clock.last().offset_ns() - first);
  return own_ns + first + std::llround(change * share);
}

int64_t ErrorBoundNs(const ClockAlignment& clock) {
  return std::max(clock.first().error_ns(), clock.last().error_ns());
}

double DriftPpm(const ClockAlignment& clock) {
  if (!HasDrift(clock)) return 0;
  return 1e6 * static_cast<double>(clock.last().offset_ns() - clock.first().offset_ns()) /
         static_cast<double>(clock.last().at_ns() - clock.first().at_ns());
}

}  // namespace ringside
