// Where a process writes down what it does in the steps that are traced: spans of time, in memory
// that was allocated before the first step.
//
// Thread-safe: threads that come and go, as gRPC's do, record without a lock and without
// allocation: each span takes the next free place, and that place is its thread's alone. A span
// that finds no place is dropped and counted. Whoever traces holds a pointer, null where nothing is
// traced: then all that tracing costs is a test of it.
#ifndef RINGSIDE_COMMON_TRACE_TRACE_BUFFER_H_
#define RINGSIDE_COMMON_TRACE_TRACE_BUFFER_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include "common/step_window.h"
#include "trace.pb.h"

namespace ringside {

class TraceBuffer {
 public:
  struct Span {
    TraceKind kind = TRACE_UNSPECIFIED;
    int64_t step = 0;
    int bucket = -1;
    int peer = -1;
    int64_t begin_ns = 0;  // of Now()
    int64_t end_ns = 0;
  };

  // About 100 MB: what a window that is too long does not exceed.
  static constexpr int64_t kMaxSpans = 2'000'000;

  // Has places for `spans` spans of the steps in `window`, or for kMaxSpans.
  TraceBuffer(const StepWindow& window, int64_t spans);
  TraceBuffer(const TraceBuffer&) = delete;
  TraceBuffer& operator=(const TraceBuffer&) = delete;

  const StepWindow& window() const { return window_; }
  // The process's monotonic clock.
  static int64_t Now() {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
  }

  // `buffer` where it wants spans of this step, else null.
  static TraceBuffer* If(TraceBuffer* buffer, int64_t step) {
    return buffer != nullptr && buffer->window_.Contains(step) ? buffer : nullptr;
  }

  void Record(const Span& span);

  // Appends all spans recorded so far, and adds to `dropped`.
  void AppendTo(ProcessTrace* trace) const;

 private:
  struct Place {
    std::atomic<bool> written{false};
    Span span;
  };

  const StepWindow window_;
  const int64_t num_places_;
  const std::unique_ptr<Place[]> places_;
  std::atomic<int64_t> taken_{0};  // places, and more where there were not enough
};

// A span from its own beginning to its end. Of no step of the window: nothing.
class TraceScope {
 public:
  // `buffer` may be null.
  TraceScope(TraceBuffer* buffer, TraceKind kind, int64_t step, int bucket = -1, int peer = -1)
      : buffer_(TraceBuffer::If(buffer, step)) {
    if (buffer_ != nullptr) span_ = {kind, step, bucket, peer, TraceBuffer::Now(), 0};
  }
  ~TraceScope() {
    if (buffer_ == nullptr) return;
    span_.end_ns = TraceBuffer::Now();
    buffer_->Record(span_);
  }
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;

 private:
  TraceBuffer* const buffer_;
  TraceBuffer::Span span_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_TRACE_TRACE_BUFFER_H_
