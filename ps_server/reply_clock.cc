#include "ps_server/reply_clock.h"

namespace ringside {

class ReplyClock::Reply {
 public:
  Reply(ReplyClock* clock, const FrameHeader& header)
      : clock_(clock),
        step_(static_cast<int64_t>(header.step)),
        bucket_(static_cast<int>(header.bucket)) {}
  ~Reply() { clock_->Stop(step_, bucket_, start_); }
  Reply(const Reply&) = delete;
  Reply& operator=(const Reply&) = delete;

 private:
  ReplyClock* const clock_;
  const int64_t step_;
  const int bucket_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

ReplyClock::Ticket ReplyClock::Start(const FrameHeader& header) {
  return std::make_shared<const Reply>(this, header);
}

void ReplyClock::Stop(int64_t step, int bucket, std::chrono::steady_clock::time_point start) {
  const auto end = std::chrono::steady_clock::now();
  TraceBuffer* const trace = TraceBuffer::If(trace_, step);
  if (trace != nullptr) {
    trace->Record({TRACE_REPLY, step, bucket, /*peer=*/-1,
                   std::chrono::nanoseconds(start.time_since_epoch()).count(),
                   std::chrono::nanoseconds(end.time_since_epoch()).count()});
  }
  MutexLock lock(&mutex_);
  ++total_.replies;
  total_.time += absl::FromChrono(end - start);
}

ReplyClock::Total ReplyClock::total() const {
  MutexLock lock(&mutex_);
  return total_;
}

}  // namespace ringside
