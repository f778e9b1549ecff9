// Where the left neighbour of a rank puts what it would send: a header, and where the payload lies
// in the sender's own memory. The layout that both processes see.
#ifndef RINGSIDE_ALLREDUCE_SHM_RING_MAILBOX_H_
#define RINGSIDE_ALLREDUCE_SHM_RING_MAILBOX_H_

#include <atomic>
#include <cstdint>

#include "allreduce/shm/shared_event.h"
#include "common/frame_codec.h"

namespace ringside {

// Zeroed memory is an empty mailbox. Belongs to the receiver; one sender.
struct RingMailbox {
  static constexpr uint64_t kSlots = 256;
  // Why the owner may sleep.
  static constexpr uint32_t kForFrames = 1;  // woken by the left neighbour
  static constexpr uint32_t kForTaking = 2;  // woken by the right one, who takes what was put

  struct alignas(64) Slot {
    EncodedFrameHeader header;
    uint64_t offset;   // of the payload, in bytes from the start of
    uint32_t segment;  // this one of the sender's (PeerMemory)
  };

  alignas(64) std::atomic<uint64_t> put;    // frames, by the sender
  alignas(64) std::atomic<uint64_t> taken;  // of them, by the owner
  // Number of `taken` from which the sleeping sender wants to be woken.
  alignas(64) std::atomic<uint64_t> wanted;
  SharedEvent event;  // of the owner
  Slot slots[kSlots];
};

static_assert(std::atomic<uint64_t>::is_always_lock_free, "shared between processes");

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_SHM_RING_MAILBOX_H_
