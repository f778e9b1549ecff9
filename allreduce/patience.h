// What to do before sleeping for a peer that is expected soon: look for a few microseconds, then
// give the core away between looks, for a while.
//
// A sleep and its end take longer than most waits of a collective. And peers that sleep and wake
// each other look to the kernel like one thread of work, which it keeps on one core, although
// another one idles; peers that stay runnable are spread. Yielding, not spinning, because with more
// ranks than cores the peer may need this very core.
//
// Every now and then a wait sleeps at once: whoever is woken is put on an idle core, if there is
// one, while ranks that share a core and yield to each other may stay there for long.
#ifndef RINGSIDE_ALLREDUCE_PATIENCE_H_
#define RINGSIDE_ALLREDUCE_PATIENCE_H_

#include <sched.h>

#include <chrono>

namespace ringside {

// How long to yield before a sleep, in shared memory and at a socket, whose hand-overs take longer.
// More than a hand-over and the copy behind it, much less than a backward pass.
constexpr std::chrono::microseconds kMemoryPatience{100};
constexpr std::chrono::microseconds kSocketPatience{400};

// Of one waiter, for its waits one after the other. Thread-compatible.
class Patience {
 public:
  explicit Patience(std::chrono::microseconds limit) : limit_(limit) {}

  // True: look again. False: it is time to sleep.
  bool Yield() {
    const auto now = std::chrono::steady_clock::now();
    if (until_ == std::chrono::steady_clock::time_point()) {
      constexpr int kWaitsToASleep = 256;
      until_ = ++waits_ % kWaitsToASleep == 0 ? now : now + limit_;
    }
    if (now >= until_) return false;
    sched_yield();
    return true;
  }
  // The wait is over; the next one starts anew.
  void Reset() { until_ = {}; }

 private:
  const std::chrono::microseconds limit_;
  std::chrono::steady_clock::time_point until_;
  unsigned waits_ = 0;  // that had to yield
};

// True as soon as the condition is; false when patience is at its end.
template <typename Condition>
bool AwaitPatiently(const Condition& condition, Patience* patience) {
  constexpr int kPauses = 200;  // a few microseconds
  for (int i = 0; i < kPauses; ++i) {
    if (condition()) return true;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  bool met = false;
  while (!(met = condition()) && patience->Yield()) {
  }
  patience->Reset();
  return met;
}

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_PATIENCE_H_
