#include "allreduce/neighbour_ring_link.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "allreduce/patience.h"
#include "common/network/poll.h"
#include "common/status_macros.h"
#include "common/suspects.h"

namespace ringside {
namespace {

// How long one sleep on a futex lasts at most, since a neighbour that dies does not wake it.
constexpr absl::Duration kLongestSleep = absl::Milliseconds(10);

std::string SinceText(absl::Time then) {
  return absl::FormatDuration(absl::Trunc(absl::Now() - then, absl::Milliseconds(10)));
}

}  // namespace

absl::StatusOr<std::unique_ptr<NeighbourRingLink>> NeighbourRingLink::Create(
    const Group& group, std::unique_ptr<OwnMemory> memory, std::unique_ptr<RingReceiver> receiver,
    std::unique_ptr<RingSender> sender) {
  FileDescriptor interrupt_event(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!interrupt_event.valid()) {
    return absl::ResourceExhaustedError(absl::StrCat("no eventfd: ", strerror(errno)));
  }
  return absl::WrapUnique(new NeighbourRingLink(group, std::move(memory), std::move(receiver),
                                                std::move(sender), std::move(interrupt_event)));
}

NeighbourRingLink::NeighbourRingLink(const Group& group, std::unique_ptr<OwnMemory> memory,
                                     std::unique_ptr<RingReceiver> receiver,
                                     std::unique_ptr<RingSender> sender,
                                     FileDescriptor interrupt_event)
    : left_rank_(group.left()),
      right_rank_(group.right()),
      memory_(std::move(memory)),
      receiver_(std::move(receiver)),
      sender_(std::move(sender)),
      shm_receiver_(dynamic_cast<ShmRingReceiver*>(receiver_.get())),
      shm_sender_(dynamic_cast<ShmRingSender*>(sender_.get())),
      interrupt_event_(std::move(interrupt_event)),
      last_received_(absl::Now()),
      last_sent_(absl::Now()) {}

void NeighbourRingLink::Send(const FrameHeader& header, absl::Span<const uint8_t> payload) {
  if (sender_->idle()) last_sent_ = absl::Now();
  sender_->Send(header, payload);
}

absl::StatusOr<FrameHeader> NeighbourRingLink::ReceiveHeader(absl::Time deadline) {
  receiver_->Release();
  for (;;) {
    RINGSIDE_RETURN_IF_ERROR(Progress());
    FrameHeader header;
    RINGSIDE_ASSIGN_OR_RETURN(const bool received, receiver_->TryHeader(&header));
    if (received) {
      patience_.Reset();
      last_received_ = absl::Now();
      return header;
    }
    RINGSIDE_RETURN_IF_ERROR(Wait(/*receiving=*/true, deadline));
  }
}

absl::Status NeighbourRingLink::ReceivePayload(absl::Span<uint8_t> into, absl::Time deadline) {
  while (!into.empty()) {
    RINGSIDE_RETURN_IF_ERROR(Progress());
    RINGSIDE_ASSIGN_OR_RETURN(const size_t bytes, receiver_->TryReceive(into));
    if (bytes == 0) {
      RINGSIDE_RETURN_IF_ERROR(Wait(/*receiving=*/true, deadline));
      continue;
    }
    patience_.Reset();
    into.remove_prefix(bytes);
    last_received_ = absl::Now();
  }
  return absl::OkStatus();
}

absl::StatusOr<absl::Span<const uint8_t>> NeighbourRingLink::NextPiece(absl::Time deadline) {
  for (;;) {
    RINGSIDE_RETURN_IF_ERROR(Progress());
    RINGSIDE_ASSIGN_OR_RETURN(const absl::Span<const uint8_t> piece, receiver_->TryPiece());
    if (!piece.empty()) {
      patience_.Reset();
      last_received_ = absl::Now();
      return piece;
    }
    RINGSIDE_RETURN_IF_ERROR(Wait(/*receiving=*/true, deadline));
  }
}

absl::Status NeighbourRingLink::Flush(absl::Time deadline) {
  receiver_->Release();
  for (;;) {
    RINGSIDE_RETURN_IF_ERROR(Progress());
    if (sender_->idle()) {
      patience_.Reset();
      return absl::OkStatus();
    }
    RINGSIDE_RETURN_IF_ERROR(Wait(/*receiving=*/false, deadline));
  }
}

void NeighbourRingLink::Interrupt() {
  interrupted_.store(true);
  // Never read again, so every later poll wakes too. Fails only when the counter is full, and then
  // it is readable. A sleep on the futex ends by itself, soon.
  const uint64_t one = 1;
  const ssize_t written = write(interrupt_event_.get(), &one, sizeof(one));
  static_cast<void>(written);
}

TrafficCounters NeighbourRingLink::traffic() const {
  TrafficCounters counters = receiver_->traffic();
  counters += sender_->traffic();
  return counters;
}

absl::Status NeighbourRingLink::Progress() {
  if (interrupted_.load(std::memory_order_relaxed)) return absl::AbortedError("interrupted");
  if (sender_->idle()) return absl::OkStatus();
  RINGSIDE_ASSIGN_OR_RETURN(const bool moved, sender_->Progress());
  if (moved) last_sent_ = absl::Now();
  return absl::OkStatus();
}

absl::Status NeighbourRingLink::Wait(bool receiving, absl::Time deadline) {
  // First, because a peer that trickles would keep every wait below from ever timing out.
  if (absl::Now() >= deadline) return TimeoutError(receiving);
  // A stream end must be tried before it is waited for, which Progress and the caller have done.
  return shm_receiver_ != nullptr && shm_sender_ != nullptr ? WaitInMemory(receiving, deadline)
                                                            : WaitInPoll(receiving, deadline);
}

bool NeighbourRingLink::Ready(bool receiving, bool sending) const {
  if (receiving && shm_receiver_ != nullptr && shm_receiver_->HasFrame()) return true;
  return sending && shm_sender_ != nullptr && shm_sender_->ready();
}

absl::Status NeighbourRingLink::WaitInMemory(bool receiving, absl::Time deadline) {
  const bool sending = !receiving || shm_sender_->has_waiting();
  const auto ready = [&] { return Ready(receiving, sending); };
  if (AwaitPatiently(ready, &memory_patience_)) return absl::OkStatus();
  SharedEvent& event = MailboxOf(*memory_)->event;
  event.Arm((receiving ? RingMailbox::kForFrames : 0) | (sending ? shm_sender_->WantTaking() : 0));
  const absl::Time now = absl::Now();
  if (!ready()) event.Sleep(std::min(kLongestSleep, deadline - now));
  event.Disarm();
  if (ready()) return absl::OkStatus();
  if (absl::Now() >= deadline) return TimeoutError(receiving);
  if (receiving) RINGSIDE_RETURN_IF_ERROR(receiver_->CheckAlive());
  return sender_->CheckAlive();
}

absl::Status NeighbourRingLink::WaitInPoll(bool receiving, absl::Time deadline) {
  // A look is a try of the caller's.
  if (patience_.Yield()) return absl::OkStatus();
  // Of an end in shared memory not by whether it is idle, which it may become at any moment: Ready
  // looks again once it is armed.
  const bool sending =
      shm_sender_ != nullptr ? !receiving || shm_sender_->has_waiting() : !sender_->idle();
  const pollfd nothing = {-1, 0, 0};
  pollfd entries[] = {receiving ? receiver_->Arm() : nothing,
                      sending ? sender_->Arm() : nothing,
                      {interrupt_event_.get(), POLLIN, 0}};
  absl::StatusOr<bool> woken = true;
  if (!Ready(receiving, sending)) woken = PollUntil(absl::MakeSpan(entries), deadline);
  patience_.Reset();
  if (receiving) RINGSIDE_RETURN_IF_ERROR(receiver_->Disarm());
  if (sending) RINGSIDE_RETURN_IF_ERROR(sender_->Disarm());
  RINGSIDE_RETURN_IF_ERROR(woken.status());
  return *woken ? absl::OkStatus() : TimeoutError(receiving);
}

absl::Status NeighbourRingLink::TimeoutError(bool receiving) const {
  std::string what;
  std::vector<MemberId> suspects;
  if (receiving) {
    absl::StrAppend(&what, "no data from worker ", left_rank_, " for ", SinceText(last_received_));
    suspects.push_back(WorkerId(left_rank_));
  }
  if (!sender_->idle()) {
    absl::StrAppend(&what, receiving ? ", and " : "", "worker ", right_rank_,
                    " has taken none for ", SinceText(last_sent_));
    if (!receiving || right_rank_ != left_rank_) suspects.push_back(WorkerId(right_rank_));
  }
  return WithSuspects(absl::DeadlineExceededError(what), suspects);
}

}  // namespace ringside
