#include "ps_server/reply_clock.h"

#include <chrono>

namespace ringside {

class ReplyClock::Reply {
 public:
  explicit Reply(ReplyClock* clock) : clock_(clock) {}
  ~Reply() { clock_->Stop(absl::FromChrono(std::chrono::steady_clock::now() - start_)); }
  Reply(const Reply&) = delete;
  Reply& operator=(const Reply&) = delete;

 private:
  ReplyClock* const clock_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

ReplyClock::Ticket ReplyClock::Start() { return std::make_shared<const Reply>(this); }

void ReplyClock::Stop(absl::Duration took) {
  MutexLock lock(&mutex_);
  ++total_.replies;
  total_.time += took;
}

ReplyClock::Total ReplyClock::total() const {
  MutexLock lock(&mutex_);
  return total_;
}

}  // namespace ringside
