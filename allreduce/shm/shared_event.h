// How one process tells another that something in shared memory has changed: a futex that costs
// nothing while nobody sleeps.
//
// Lives in shared memory; the process whose event it is waits, its peers wake it:
//   waiter: for a moment, look at the condition (Spin). Then Arm(reasons); look again; Sleep;
//   Disarm. waker: change the condition; Wake(reason), which does nothing unless the waiter is
//   armed for it.
// The two orders "armed, then looked" and "changed, then asked whether armed" are kept by
// sequentially consistent operations, so that no wake-up is lost.
#ifndef RINGSIDE_ALLREDUCE_SHM_SHARED_EVENT_H_
#define RINGSIDE_ALLREDUCE_SHM_SHARED_EVENT_H_

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"

namespace ringside {

class alignas(64) SharedEvent {
 public:
  // Bits of what a waiter waits for; users define their own below this one.
  static constexpr uint32_t kBySocket = 1U << 31;  // it sleeps in poll, not in Sleep

  void Arm(uint32_t reasons) {
    count_seen_ = count_.load(std::memory_order_relaxed);
    armed_.store(reasons, std::memory_order_seq_cst);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
  void Disarm() { armed_.store(0, std::memory_order_relaxed); }
  // Blocks until a Wake since Arm, or for `longest`.
  void Sleep(absl::Duration longest);

  // Any process. Wakes a waiter that is armed for `reason` and says how: with kBySocket in the
  // result the caller must write to the waiter's socket; 0: nobody waited.
  uint32_t Wake(uint32_t reason) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    const uint32_t armed = armed_.load(std::memory_order_seq_cst);
    if ((armed & reason) == 0) return 0;
    return WakeArmed(armed);
  }

 private:
  uint32_t WakeArmed(uint32_t armed);

  std::atomic<uint32_t> armed_{0};
  std::atomic<uint32_t> count_{0};  // of wake-ups; the futex
  uint32_t count_seen_ = 0;         // of the waiter alone
};

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_SHM_SHARED_EVENT_H_
