// The ends of a ring between processes of one host: headers go through a mailbox, payload stays
// where it is and is read by the right neighbour.
#ifndef RINGSIDE_ALLREDUCE_SHM_SHM_RING_ENDS_H_
#define RINGSIDE_ALLREDUCE_SHM_SHM_RING_ENDS_H_

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "allreduce/ring_ends.h"
#include "allreduce/shm/ring_mailbox.h"
#include "common/network/socket.h"
#include "common/shared_memory/own_memory.h"
#include "common/shared_memory/peer_memory.h"

namespace ringside {

// Of `memory`'s control segment.
RingMailbox* MailboxOf(const OwnMemory& memory);

// Nobody rewrites a buffer before its reader has taken it: a frame has left when the neighbour has
// taken it. Payload outside of the shared arenas is copied into the staging buffers first.
class ShmRingSender final : public RingSender {
 public:
  // `own` is borrowed. `socket` is the one that the memory was exchanged over; it tells when the
  // neighbour has gone.
  ShmRingSender(const OwnMemory* own, std::unique_ptr<PeerMemory> right,
                std::unique_ptr<Socket> socket, int right_rank);

  void Send(const FrameHeader& header, absl::Span<const uint8_t> payload) override;
  absl::StatusOr<bool> Progress() override;
  bool idle() const override { return waiting_.empty() && taken() == put_; }
  pollfd Arm() override;
  absl::Status Disarm() override;
  absl::Status CheckAlive() override;
  std::string link() const override { return "shm"; }
  TrafficCounters traffic() const override;

  // Before a sleep on the mailbox's event: says from when on to be woken. Returns the reason.
  uint32_t WantTaking();
  // Whether Progress would find something to do, or everything has left.
  bool ready() const {
    if (waiting_.empty()) return taken() == put_;
    return HasSlot() && (!waits_for_buffer_ || taken() >= staged_frames_[next_buffer_]);
  }
  // Frames are lent that have no place in the mailbox yet.
  bool has_waiting() const { return !waiting_.empty(); }

 private:
  struct Outgoing {
    FrameHeader header;
    absl::Span<const uint8_t> payload;
  };

  // Frames that the neighbour has taken, of all that were put into its mailbox.
  uint64_t taken() const { return mailbox_->taken.load(std::memory_order_acquire); }
  bool HasSlot() const { return put_ - taken() < RingMailbox::kSlots; }
  bool TryPut(const FrameHeader& header, absl::Span<const uint8_t> payload);
  // Where the neighbour finds the payload; nothing while all staging buffers are in use.
  absl::optional<OwnMemory::Location> Place(absl::Span<const uint8_t> payload);

  const OwnMemory& own_;
  const std::unique_ptr<PeerMemory> right_;
  const std::unique_ptr<Socket> socket_;
  const int rank_;
  RingMailbox* const mailbox_;  // the neighbour's

  uint64_t put_ = 0;
  std::vector<Outgoing> waiting_;  // for a slot or a staging buffer
  std::vector<uint64_t>
      staged_frames_;  // by staging buffer: number of the frame after which it is free
  size_t next_buffer_ = 0;
  bool waits_for_buffer_ = false;  // the first of waiting_, not only for a slot
  uint64_t seen_taken_ = 0;        // by the last Progress
  std::atomic<int64_t> payload_bytes_{0};
  std::atomic<int64_t> messages_{0};
};

class ShmRingReceiver final : public RingReceiver {
 public:
  ShmRingReceiver(const OwnMemory* own, std::unique_ptr<PeerMemory> left,
                  std::unique_ptr<Socket> socket, int left_rank);

  absl::StatusOr<bool> TryHeader(FrameHeader* header) override;
  absl::StatusOr<size_t> TryReceive(absl::Span<uint8_t> into) override;
  absl::StatusOr<absl::Span<const uint8_t>> TryPiece() override;
  void Release() override;
  pollfd Arm() override;
  absl::Status Disarm() override;
  absl::Status CheckAlive() override;
  std::string link() const override { return "shm"; }
  TrafficCounters traffic() const override;

  bool HasFrame() const { return mailbox_->put.load(std::memory_order_acquire) > opened_; }

 private:
  const std::unique_ptr<PeerMemory> left_;
  const std::unique_ptr<Socket> socket_;
  const int rank_;
  RingMailbox* const mailbox_;     // own
  SharedEvent* const left_event_;  // of the neighbour, in its memory
  std::atomic<uint64_t>* const left_wanted_;

  uint64_t opened_ = 0;  // frames whose header was read
  uint64_t taken_ = 0;   // frames whose payload was read as well
  absl::Span<const uint8_t>
      payload_;  // what is left of the opened frame, in the neighbour's memory
  bool lent_ = false;
  std::atomic<int64_t> payload_bytes_{0};
  std::atomic<int64_t> messages_{0};
};

constexpr int64_t kShmStagingBuffers = 4;
// That a ring over shared memory needs of OwnMemory.
constexpr int64_t kRingControlBytes = sizeof(RingMailbox);
constexpr int64_t kRingStagingBytes = kShmStagingBuffers * kMaxFramePayloadBytes;

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_SHM_SHM_RING_ENDS_H_
