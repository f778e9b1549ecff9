// Where the processes of a group wait for each other: nobody leaves before all have come. One word
// in shared memory, so that the last one wakes all sleepers with one system call.
#ifndef RINGSIDE_ALLREDUCE_SHM_SHARED_MEETING_H_
#define RINGSIDE_ALLREDUCE_SHM_SHARED_MEETING_H_

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"

namespace ringside {

// Lives in shared memory, zeroed at first. Each member comes once a meeting.
class alignas(64) SharedMeeting {
 public:
  // Returns true for the last of `size` members, who has then ended the meeting.
  bool Come(int size);
  // Meetings that have ended, modulo 2^32. What members have written before they came to one is
  // seen after it.
  uint32_t ended() const { return ended_.load(std::memory_order_acquire); }
  // Blocks while ended() is `seen`, but no longer than `longest`.
  void Sleep(uint32_t seen, absl::Duration longest);

 private:
  alignas(64) std::atomic<uint64_t> come_{0};   // in all meetings together
  alignas(64) std::atomic<uint32_t> ended_{0};  // the futex
  std::atomic<uint32_t> sleepers_{0};
};

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_SHM_SHARED_MEETING_H_
