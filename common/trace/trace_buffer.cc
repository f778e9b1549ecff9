#include "common/trace/trace_buffer.h"

#include <algorithm>

namespace ringside {

TraceBuffer::TraceBuffer(const StepWindow& window, int64_t spans)
    : window_(window),
      num_places_(std::max<int64_t>(0, std::min(spans, kMaxSpans))),
      // Value-initialised, so that every page has been touched before the first step.
      places_(std::make_unique<Place[]>(static_cast<size_t>(num_places_))) {}

void TraceBuffer::Record(const Span& span) {
  const int64_t index = taken_.fetch_add(1, std::memory_order_relaxed);
  if (index >= num_places_) return;
  Place& place = places_[static_cast<size_t>(index)];
  place.span = span;
  place.written.store(true, std::memory_order_release);
}

void TraceBuffer::AppendTo(ProcessTrace* trace) const {
  const int64_t taken = taken_.load(std::memory_order_relaxed);
  const int64_t kept = std::min(taken, num_places_);
  trace->set_dropped(trace->dropped() + taken - kept);
  trace->mutable_spans()->Reserve(trace->spans_size() + static_cast<int>(kept));
  for (int64_t i = 0; i < kept; ++i) {
    const Place& place = places_[static_cast<size_t>(i)];
    if (!place.written.load(std::memory_order_acquire)) continue;  // just being written
    TraceSpan* const span = trace->add_spans();
    span->set_kind(place.span.kind);
    span->set_step(place.span.step);
    span->set_bucket(place.span.bucket);
    span->set_peer(place.span.peer);
    span->set_begin_ns(place.span.begin_ns);
    span->set_end_ns(place.span.end_ns);
  }
}

}  // namespace ringside
