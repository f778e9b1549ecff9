#include "allreduce/shm/shm_ring_ends.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/reduction.h"

namespace ringside {
namespace {

// Wakes a neighbour, through its socket where it sleeps there.
void Wake(SharedEvent* event, uint32_t reason, Socket* socket) {
  if ((event->Wake(reason) & SharedEvent::kBySocket) == 0) return;
  const uint8_t bell = 0;
  // A full socket wakes as well, and a broken one is found out by whoever reads it next.
  const ssize_t sent = send(socket->fd(), &bell, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
  static_cast<void>(sent);
}

// Takes the bytes that have woken us; they carry nothing. UNAVAILABLE: the peer has gone.
absl::Status Drain(Socket* socket) {
  uint8_t bells[64];
  for (;;) {
    const absl::StatusOr<ByteStream::Transfer> transfer = socket->TryRead(absl::MakeSpan(bells));
    if (!transfer.ok()) return transfer.status();
    if (transfer->bytes == 0) return absl::OkStatus();
  }
}

TrafficCounters Counters(int64_t payload_bytes, int64_t messages, bool sent) {
  const int64_t header_bytes = messages * static_cast<int64_t>(kFrameHeaderBytes);
  TrafficCounters counters;
  (sent ? counters.payload_bytes_sent : counters.payload_bytes_received) = payload_bytes;
  (sent ? counters.messages_sent : counters.messages_received) = messages;
  (sent ? counters.header_bytes_sent : counters.header_bytes_received) = header_bytes;
  return counters;
}

RingMailbox* MailboxAt(uint8_t* memory) { return reinterpret_cast<RingMailbox*>(memory); }

}  // namespace

RingMailbox* MailboxOf(const OwnMemory& memory) { return MailboxAt(memory.control()); }

ShmRingSender::ShmRingSender(const OwnMemory* own, std::unique_ptr<PeerMemory> right,
                             std::unique_ptr<Socket> socket, int right_rank)
    : own_(*own),
      right_(std::move(right)),
      socket_(std::move(socket)),
      rank_(right_rank),
      mailbox_(MailboxAt(right_->segment(0).data())),
      staged_frames_(kShmStagingBuffers) {
  waiting_.reserve(RingMailbox::kSlots);
}

void ShmRingSender::Send(const FrameHeader& header, absl::Span<const uint8_t> payload) {
  RINGSIDE_CHECK(header.payload_bytes() == static_cast<int64_t>(payload.size()));
  if (!waiting_.empty() || !TryPut(header, payload)) waiting_.push_back({header, payload});
}

absl::StatusOr<bool> ShmRingSender::Progress() {
  size_t moved = 0;
  while (moved < waiting_.size() && TryPut(waiting_[moved].header, waiting_[moved].payload))
    ++moved;
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(moved));
  const bool took = taken() != seen_taken_;
  seen_taken_ = taken();
  return moved > 0 || took;
}

bool ShmRingSender::TryPut(const FrameHeader& header, absl::Span<const uint8_t> payload) {
  waits_for_buffer_ = false;
  if (!HasSlot()) return false;
  const absl::optional<OwnMemory::Location> location = Place(payload);
  if (!location.has_value()) return false;
  RingMailbox::Slot& slot = mailbox_->slots[put_ % RingMailbox::kSlots];
  slot.header = EncodeFrameHeader(header);
  slot.segment = location->segment;
  slot.offset = location->offset;
  mailbox_->put.store(++put_, std::memory_order_release);
  payload_bytes_.fetch_add(static_cast<int64_t>(payload.size()), std::memory_order_relaxed);
  messages_.fetch_add(1, std::memory_order_relaxed);
  Wake(&mailbox_->event, RingMailbox::kForFrames, socket_.get());
  return true;
}

absl::optional<OwnMemory::Location> ShmRingSender::Place(absl::Span<const uint8_t> payload) {
  absl::optional<OwnMemory::Location> location = own_.Locate(payload);
  if (location.has_value() || payload.empty()) return location.value_or(OwnMemory::Location{});
  waits_for_buffer_ = taken() < staged_frames_[next_buffer_];
  if (waits_for_buffer_) return absl::nullopt;
  uint8_t* const buffer = own_.staging().data() + next_buffer_ * kMaxFramePayloadBytes;
  CopyBytes(payload, absl::MakeSpan(buffer, payload.size()));
  staged_frames_[next_buffer_] = put_ + 1;
  next_buffer_ = (next_buffer_ + 1) % kShmStagingBuffers;
  return own_.Locate(absl::MakeConstSpan(buffer, payload.size()));
}

uint32_t ShmRingSender::WantTaking() {
  // With frames waiting, any that is taken may make room.
  const uint64_t wanted = waiting_.empty() ? put_ : taken() + 1;
  mailbox_->wanted.store(wanted, std::memory_order_seq_cst);
  return RingMailbox::kForTaking;
}

pollfd ShmRingSender::Arm() {
  MailboxOf(own_)->event.Arm(WantTaking() | SharedEvent::kBySocket);
  return {socket_->fd(), POLLIN, 0};
}

absl::Status ShmRingSender::Disarm() {
  MailboxOf(own_)->event.Disarm();
  return CheckAlive();
}

absl::Status ShmRingSender::CheckAlive() {
  const absl::Status status = Drain(socket_.get());
  // Who has taken everything may go.
  if (status.ok() || idle()) return absl::OkStatus();
  return EndError(status, "connection to worker ", rank_);
}

TrafficCounters ShmRingSender::traffic() const {
  return Counters(payload_bytes_.load(std::memory_order_relaxed),
                  messages_.load(std::memory_order_relaxed), true);
}

ShmRingReceiver::ShmRingReceiver(const OwnMemory* own, std::unique_ptr<PeerMemory> left,
                                 std::unique_ptr<Socket> socket, int left_rank)
    : left_(std::move(left)),
      socket_(std::move(socket)),
      rank_(left_rank),
      mailbox_(MailboxOf(*own)),
      left_event_(&MailboxAt(left_->segment(0).data())->event),
      left_wanted_(&mailbox_->wanted) {}

absl::StatusOr<bool> ShmRingReceiver::TryHeader(FrameHeader* header) {
  if (!HasFrame()) return false;
  // A copy, so that what is checked is what is used.
  const RingMailbox::Slot slot = mailbox_->slots[opened_ % RingMailbox::kSlots];
  const absl::StatusOr<FrameHeader> decoded = DecodeFrameHeader(slot.header);
  if (!decoded.ok()) return EndError(decoded.status(), "from worker ", rank_);
  const auto bytes = static_cast<uint64_t>(decoded->payload_bytes());
  const uint8_t* const payload = left_->Find(slot.segment, slot.offset, bytes);
  if (payload == nullptr || slot.offset % BytesPerElement(decoded->dtype) != 0) {
    return EndError(absl::InvalidArgumentError(
                        absl::StrCat("malformed frame: its payload of ", bytes, " bytes at ",
                                     slot.offset, " is not within segment ", slot.segment)),
                    "from worker ", rank_);
  }
  *header = *decoded;
  payload_ = absl::MakeConstSpan(payload, bytes);
  ++opened_;
  lent_ = true;
  if (bytes == 0) Release();
  return true;
}

absl::StatusOr<size_t> ShmRingReceiver::TryReceive(absl::Span<uint8_t> into) {
  const size_t bytes = std::min(into.size(), payload_.size());
  CopyBytes(payload_.first(bytes), into.first(bytes));
  payload_.remove_prefix(bytes);
  payload_bytes_.fetch_add(static_cast<int64_t>(bytes), std::memory_order_relaxed);
  if (payload_.empty()) Release();
  return bytes;
}

absl::StatusOr<absl::Span<const uint8_t>> ShmRingReceiver::TryPiece() {
  const absl::Span<const uint8_t> piece = payload_;
  payload_ = {};
  payload_bytes_.fetch_add(static_cast<int64_t>(piece.size()), std::memory_order_relaxed);
  return piece;
}

void ShmRingReceiver::Release() {
  if (!lent_ || !payload_.empty()) return;
  lent_ = false;
  messages_.fetch_add(1, std::memory_order_relaxed);
  mailbox_->taken.store(++taken_, std::memory_order_seq_cst);
  if (taken_ >= left_wanted_->load(std::memory_order_seq_cst)) {
    Wake(left_event_, RingMailbox::kForTaking, socket_.get());
  }
}

pollfd ShmRingReceiver::Arm() {
  mailbox_->event.Arm(RingMailbox::kForFrames | SharedEvent::kBySocket);
  return {socket_->fd(), POLLIN, 0};
}

absl::Status ShmRingReceiver::Disarm() {
  mailbox_->event.Disarm();
  return CheckAlive();
}

absl::Status ShmRingReceiver::CheckAlive() {
  const absl::Status status = Drain(socket_.get());
  // What it has put before it went is still there to be read.
  if (status.ok() || HasFrame()) return absl::OkStatus();
  return EndError(status, "connection from worker ", rank_);
}

TrafficCounters ShmRingReceiver::traffic() const {
  return Counters(payload_bytes_.load(std::memory_order_relaxed),
                  messages_.load(std::memory_order_relaxed), false);
}

}  // namespace ringside
