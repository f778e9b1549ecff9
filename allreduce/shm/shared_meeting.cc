#include "allreduce/shm/shared_meeting.h"

#include "allreduce/shm/futex.h"

namespace ringside {

bool SharedMeeting::Come(int size) {
  const uint64_t come = come_.fetch_add(1, std::memory_order_acq_rel) + 1;
  if (come % static_cast<uint64_t>(size) != 0) return false;
  ended_.fetch_add(1, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) > 0) WakeAll(&ended_);
  return true;
}

void SharedMeeting::Sleep(uint32_t seen, absl::Duration longest) {
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  SleepWhile(&ended_, seen, longest);
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace ringside
