#include "allreduce/shm/shared_event.h"

#include "allreduce/shm/futex.h"

namespace ringside {

void SharedEvent::Sleep(absl::Duration longest) { SleepWhile(&count_, count_seen_, longest); }

uint32_t SharedEvent::WakeArmed(uint32_t armed) {
  // Only one of several wakers goes on to the kernel.
  if (!armed_.compare_exchange_strong(armed, 0)) return 0;
  count_.fetch_add(1, std::memory_order_seq_cst);
  if ((armed & kBySocket) == 0) WakeAll(&count_);
  return armed;
}

}  // namespace ringside
