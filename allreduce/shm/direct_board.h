// What a rank of a direct all-reduce tells the others: the layout that all processes see.
#ifndef RINGSIDE_ALLREDUCE_SHM_DIRECT_BOARD_H_
#define RINGSIDE_ALLREDUCE_SHM_DIRECT_BOARD_H_

#include <atomic>
#include <cstdint>

#include "allreduce/shm/shared_meeting.h"

namespace ringside {

// Zeroed at first.
struct DirectBoard {
  static constexpr uint32_t kNoSegment = 0xffffffff;

  struct Buffer {
    uint32_t segment;  // of the rank's PeerMemory; kNoSegment: the buffer lies in no shared arena
    uint64_t offset;   // bytes
  };
  // Of the sum that a rank has come for. Written before a meeting, read after it.
  struct alignas(64) Announcement {
    uint32_t group;
    uint32_t generation;
    uint64_t step;
    uint32_t bucket;
    uint64_t elements;
    Buffer in;
    Buffer out;
  };

  SharedMeeting meeting;                   // used on the board of the group's first rank
  alignas(64) std::atomic<uint64_t> come;  // meetings that this rank has come to
  // By number of the sum, modulo 2: a rank that is quick to come for the next sum must not
  // overwrite what a slow one still reads.
  Announcement announcements[2];
};

static_assert(std::atomic<uint64_t>::is_always_lock_free, "shared between processes");

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_SHM_DIRECT_BOARD_H_
