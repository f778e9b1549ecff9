// A RingLink made of two ends, each over what the two neighbours can best reach each other by:
// shared memory on one side and TCP on the other, if need be.
#ifndef RINGSIDE_ALLREDUCE_NEIGHBOUR_RING_LINK_H_
#define RINGSIDE_ALLREDUCE_NEIGHBOUR_RING_LINK_H_

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "allreduce/patience.h"
#include "allreduce/ring_ends.h"
#include "allreduce/ring_link.h"
#include "allreduce/shm/shm_ring_ends.h"
#include "common/group.h"
#include "common/network/socket.h"
#include "common/shared_memory/own_memory.h"

namespace ringside {

// Sends whenever it waits, so that a ring in which all ranks send at once does not block itself.
// Sleeps on a futex where both ends are in shared memory, and in poll otherwise.
class NeighbourRingLink final : public RingLink {
 public:
  // `memory` is what ends over shared memory were made with, and may be null without any.
  // RESOURCE_EXHAUSTED: no descriptor to be woken by.
  static absl::StatusOr<std::unique_ptr<NeighbourRingLink>> Create(
      const Group& group, std::unique_ptr<OwnMemory> memory, std::unique_ptr<RingReceiver> receiver,
      std::unique_ptr<RingSender> sender);

  // "tcp", "uds" or "shm".
  std::string left_link() const { return receiver_->link(); }
  std::string right_link() const { return sender_->link(); }

  void Send(const FrameHeader& header, absl::Span<const uint8_t> payload) override;
  absl::StatusOr<FrameHeader> ReceiveHeader(absl::Time deadline) override;
  absl::Status ReceivePayload(absl::Span<uint8_t> into, absl::Time deadline) override;
  absl::StatusOr<absl::Span<const uint8_t>> NextPiece(absl::Time deadline) override;
  absl::Status Flush(absl::Time deadline) override;
  void Interrupt() override;
  TrafficCounters traffic() const override;

 private:
  NeighbourRingLink(const Group& group, std::unique_ptr<OwnMemory> memory,
                    std::unique_ptr<RingReceiver> receiver, std::unique_ptr<RingSender> sender,
                    FileDescriptor interrupt_event);

  // Sends what can be sent; fails once interrupted.
  absl::Status Progress();
  // Blocks until there may be something new from the left (where `receiving`) or the right takes
  // more.
  absl::Status Wait(bool receiving, absl::Time deadline);
  absl::Status WaitInMemory(bool receiving, absl::Time deadline);
  absl::Status WaitInPoll(bool receiving, absl::Time deadline);
  // Whether an end in shared memory has what is waited for.
  bool Ready(bool receiving, bool sending) const;
  absl::Status TimeoutError(bool receiving) const;

  // Constant after construction.
  const int left_rank_;
  const int right_rank_;
  const std::unique_ptr<OwnMemory> memory_;  // outlives the ends
  const std::unique_ptr<RingReceiver> receiver_;
  const std::unique_ptr<RingSender> sender_;
  // The ends where they are in shared memory, else null.
  ShmRingReceiver* const shm_receiver_;
  ShmRingSender* const shm_sender_;
  const FileDescriptor interrupt_event_;  // readable once interrupted, so that poll wakes

  // Used by the one thread that sends and receives.
  Patience patience_{kSocketPatience};         // before a sleep in poll
  Patience memory_patience_{kMemoryPatience};  // before a sleep on the futex
  absl::Time last_received_;
  absl::Time last_sent_;

  std::atomic<bool> interrupted_{false};
};

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_NEIGHBOUR_RING_LINK_H_
