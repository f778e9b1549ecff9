// How long replies take: from the moment at which a unit is complete until the last of its writes
// has ended.
//
// Thread-safe.
#ifndef RINGSIDE_PS_SERVER_REPLY_CLOCK_H_
#define RINGSIDE_PS_SERVER_REPLY_CLOCK_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include "absl/time/time.h"
#include "common/frame_codec.h"
#include "common/mutex.h"
#include "common/trace/trace_buffer.h"

namespace ringside {

class ReplyClock {
 public:
  // One reply. Every write of it holds a copy; when the last copy is gone, the reply is over. A
  // write that a broken stream drops counts until then. Empty: a frame that is not timed.
  using Ticket = std::shared_ptr<const void>;

  struct Total {
    int64_t replies = 0;
    absl::Duration time;  // of all replies together; they overlap
  };

  // From now on replies go to `trace` as well, which outlives the clock; null: no more.
  void TraceTo(TraceBuffer* trace) { trace_ = trace; }

  // The reply of this header begins. The clock outlives the ticket.
  Ticket Start(const FrameHeader& header);
  // Of the replies that are over.
  Total total() const;

 private:
  class Reply;
  void Stop(int64_t step, int bucket, std::chrono::steady_clock::time_point start);

  std::atomic<TraceBuffer*> trace_{nullptr};
  mutable Mutex mutex_;
  Total total_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ringside

#endif  // RINGSIDE_PS_SERVER_REPLY_CLOCK_H_
