#include "allreduce/tcp_ring_link.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "allreduce/ring_handshake.h"
#include "common/check.h"
#include "common/network/poll.h"
#include "common/status_macros.h"
#include "common/suspects.h"

namespace ringside {
namespace {

constexpr int kMaxPieces = 16;  // of one write: header and payload of 8 frames

std::string SinceText(absl::Time then) {
  return absl::FormatDuration(absl::Trunc(absl::Now() - then, absl::Milliseconds(10)));
}

absl::Status LinkError(const absl::Status& status, absl::string_view prefix, int rank) {
  return WithSuspects(
      absl::Status(status.code(), absl::StrCat(prefix, rank, ": ", status.message())),
      {WorkerId(rank)});
}

}  // namespace

absl::StatusOr<std::unique_ptr<TcpRingListener>> TcpRingListener::Open(const BindAddress& bind) {
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<ListeningSocket> socket, ListeningSocket::Bind(bind));
  Endpoint endpoint{bind.advertise_host.empty() ? bind.listen_host : bind.advertise_host,
                    socket->port()};
  return absl::WrapUnique(new TcpRingListener(std::move(socket), std::move(endpoint)));
}

absl::StatusOr<std::unique_ptr<TcpRingLink>> TcpRingLink::Connect(
    std::unique_ptr<TcpRingListener> listener, Config config) {
  const Group group = config.group;
  if (listener == nullptr || group.size() < 2 || group.index < 0 || group.index >= group.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a ring link needs a listener and a place in a group of at least 2; this is index ",
        group.index, " of ", group.size()));
  }
  RingHandshake::Config handshake_config;
  handshake_config.group = group;
  handshake_config.right = std::move(config.right);
  handshake_config.token = std::move(config.token);
  handshake_config.plan_hash = std::move(config.plan_hash);
  handshake_config.congestion_control = std::move(config.congestion_control);
  handshake_config.connect_timeout = config.connect_timeout;
  handshake_config.hello_timeout = config.hello_timeout;
  RINGSIDE_ASSIGN_OR_RETURN(RingHandshake::Neighbours neighbours,
                            RingHandshake(&handshake_config, listener->socket()).Run());
  RINGSIDE_ASSIGN_OR_RETURN(std::string congestion_control, neighbours.right->CongestionControl());
  FileDescriptor interrupt_event(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!interrupt_event.valid()) {
    return absl::ResourceExhaustedError(absl::StrCat("no eventfd: ", strerror(errno)));
  }
  return absl::WrapUnique(new TcpRingLink(group, std::move(neighbours.left),
                                          std::move(neighbours.right), std::move(interrupt_event),
                                          std::move(congestion_control)));
}

TcpRingLink::TcpRingLink(const Group& group, std::unique_ptr<ByteStream> left,
                         std::unique_ptr<ByteStream> right, FileDescriptor interrupt_event,
                         std::string congestion_control)
    : left_rank_(group.left()),
      right_rank_(group.right()),
      left_(std::move(left)),
      right_(std::move(right)),
      interrupt_event_(std::move(interrupt_event)),
      congestion_control_(std::move(congestion_control)),
      last_received_(absl::Now()),
      last_sent_(absl::Now()) {
  outgoing_.reserve(256);
}

void TcpRingLink::Send(const FrameHeader& header, absl::Span<const float> payload) {
  RINGSIDE_CHECK(header.elements == payload.size());
  if (!HasToSend()) last_sent_ = absl::Now();
  outgoing_.push_back({EncodeFrameHeader(header),
                       absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(payload.data()),
                                           payload.size() * sizeof(float))});
}

absl::StatusOr<FrameHeader> TcpRingLink::ReceiveHeader(absl::Time deadline) {
  EncodedFrameHeader bytes;
  RINGSIDE_RETURN_IF_ERROR(Move(absl::MakeSpan(bytes), deadline));
  absl::StatusOr<FrameHeader> header = DecodeFrameHeader(bytes);
  if (!header.ok()) return LinkError(header.status(), "from worker ", left_rank_);
  if (header->elements == 0) messages_received_.fetch_add(1, std::memory_order_relaxed);
  return header;
}

absl::Status TcpRingLink::ReceivePayload(absl::Span<float> payload, absl::Time deadline) {
  if (payload.empty()) return absl::OkStatus();
  const size_t bytes = payload.size() * sizeof(float);
  RINGSIDE_RETURN_IF_ERROR(
      Move(absl::MakeSpan(reinterpret_cast<uint8_t*>(payload.data()), bytes), deadline));
  payload_bytes_received_.fetch_add(static_cast<int64_t>(bytes), std::memory_order_relaxed);
  messages_received_.fetch_add(1, std::memory_order_relaxed);
  return absl::OkStatus();
}

absl::Status TcpRingLink::Flush(absl::Time deadline) { return Move({}, deadline); }

void TcpRingLink::Interrupt() {
  interrupted_.store(true);
  // Never read again, so every later poll wakes too. Fails only when the counter is full, and then
  // it is readable.
  const uint64_t one = 1;
  const ssize_t written = write(interrupt_event_.get(), &one, sizeof(one));
  static_cast<void>(written);
}

TrafficCounters TcpRingLink::traffic() const {
  TrafficCounters counters;
  counters.payload_bytes_sent = payload_bytes_sent_.load(std::memory_order_relaxed);
  counters.payload_bytes_received = payload_bytes_received_.load(std::memory_order_relaxed);
  counters.messages_sent = messages_sent_.load(std::memory_order_relaxed);
  counters.messages_received = messages_received_.load(std::memory_order_relaxed);
  counters.header_bytes_sent = counters.messages_sent * static_cast<int64_t>(kFrameHeaderBytes);
  counters.header_bytes_received =
      counters.messages_received * static_cast<int64_t>(kFrameHeaderBytes);
  return counters;
}

absl::Status TcpRingLink::Move(absl::Span<uint8_t> into, absl::Time deadline) {
  const bool receiving = !into.empty();
  while (receiving ? !into.empty() : HasToSend()) {
    if (interrupted_.load(std::memory_order_relaxed)) return absl::AbortedError("interrupted");
    RINGSIDE_RETURN_IF_ERROR(SendSome());
    if (receiving) {
      const absl::StatusOr<ByteStream::Transfer> transfer = left_->TryRead(into);
      if (!transfer.ok())
        return LinkError(transfer.status(), "connection from worker ", left_rank_);
      left_wait_ = transfer->wait_for;
      if (transfer->bytes > 0) {
        last_received_ = absl::Now();
        into.remove_prefix(transfer->bytes);
        continue;
      }
    }
    if (receiving || HasToSend()) RINGSIDE_RETURN_IF_ERROR(Wait(receiving, deadline));
  }
  return absl::OkStatus();
}

absl::Status TcpRingLink::SendSome() {
  while (HasToSend()) {
    iovec pieces[kMaxPieces];
    int count = 0;
    size_t skip = sent_of_first_;  // falls within the first frame
    for (size_t i = first_unsent_; i < outgoing_.size() && count + 2 <= kMaxPieces; ++i) {
      const Outgoing& frame = outgoing_[i];
      const size_t of_header = std::min(skip, frame.header.size());
      if (of_header < frame.header.size()) {
        pieces[count++] = {const_cast<uint8_t*>(frame.header.data()) + of_header,
                           frame.header.size() - of_header};
      }
      const size_t of_payload = skip - of_header;
      if (of_payload < frame.payload.size()) {
        pieces[count++] = {const_cast<uint8_t*>(frame.payload.data()) + of_payload,
                           frame.payload.size() - of_payload};
      }
      skip = 0;
    }
    const absl::StatusOr<ByteStream::Transfer> transfer =
        right_->TryWrite(absl::MakeConstSpan(pieces, count));
    if (!transfer.ok()) return LinkError(transfer.status(), "connection to worker ", right_rank_);
    right_wait_ = transfer->wait_for;
    if (transfer->bytes == 0) return absl::OkStatus();
    last_sent_ = absl::Now();
    CountSent(transfer->bytes);
  }
  return absl::OkStatus();
}

void TcpRingLink::CountSent(size_t bytes) {
  sent_of_first_ += bytes;
  while (HasToSend() && sent_of_first_ >= outgoing_[first_unsent_].size()) {
    const Outgoing& frame = outgoing_[first_unsent_];
    sent_of_first_ -= frame.size();
    payload_bytes_sent_.fetch_add(static_cast<int64_t>(frame.payload.size()),
                                  std::memory_order_relaxed);
    messages_sent_.fetch_add(1, std::memory_order_relaxed);
    ++first_unsent_;
  }
  if (!HasToSend()) {
    outgoing_.clear();
    first_unsent_ = 0;
  }
}

absl::Status TcpRingLink::Wait(bool receiving, absl::Time deadline) {
  // Checked here too, because a peer that trickles would keep poll from ever timing out.
  if (absl::Now() >= deadline) return TimeoutError(receiving);
  pollfd entries[] = {{receiving ? left_->fd() : -1, left_wait_, 0},
                      {HasToSend() ? right_->fd() : -1, right_wait_, 0},
                      {interrupt_event_.get(), POLLIN, 0}};
  RINGSIDE_ASSIGN_OR_RETURN(const bool ready, PollUntil(absl::MakeSpan(entries), deadline));
  return ready ? absl::OkStatus() : TimeoutError(receiving);
}

absl::Status TcpRingLink::TimeoutError(bool receiving) const {
  std::string what;
  std::vector<MemberId> suspects;
  if (receiving) {
    absl::StrAppend(&what, "no data from worker ", left_rank_, " for ", SinceText(last_received_));
    suspects.push_back(WorkerId(left_rank_));
  }
  if (HasToSend()) {
    absl::StrAppend(&what, receiving ? ", and " : "", "worker ", right_rank_,
                    " has taken none for ", SinceText(last_sent_));
    if (!receiving || right_rank_ != left_rank_) suspects.push_back(WorkerId(right_rank_));
  }
  return WithSuspects(absl::DeadlineExceededError(what), suspects);
}

}  // namespace ringside
