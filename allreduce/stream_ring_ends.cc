#include "allreduce/stream_ring_ends.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/status_macros.h"
#include "common/suspects.h"

namespace ringside {
namespace {

constexpr int kMaxPieces = 16;  // of one write: header and payload of 8 frames
// What is read and added at a time: the sum finds it in the cache still.
constexpr int64_t kPieceBytes = 128 << 10;

}  // namespace

absl::Status EndError(const absl::Status& status, absl::string_view prefix, int rank) {
  return WithSuspects(
      absl::Status(status.code(), absl::StrCat(prefix, rank, ": ", status.message())),
      {WorkerId(rank)});
}

StreamRingSender::StreamRingSender(std::shared_ptr<ByteStream> stream, int right_rank,
                                   std::string link)
    : stream_(std::move(stream)), rank_(right_rank), link_(std::move(link)) {
  outgoing_.reserve(256);
}

void StreamRingSender::Send(const FrameHeader& header, absl::Span<const uint8_t> payload) {
  RINGSIDE_CHECK(header.payload_bytes() == static_cast<int64_t>(payload.size()));
  outgoing_.push_back({EncodeFrameHeader(header), payload});
}

absl::StatusOr<bool> StreamRingSender::Progress() {
  bool moved = false;
  while (!idle()) {
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
        stream_->TryWrite(absl::MakeConstSpan(pieces, count));
    if (!transfer.ok()) return EndError(transfer.status(), "connection to worker ", rank_);
    wait_for_ = transfer->wait_for;
    if (transfer->bytes == 0) break;
    moved = true;
    CountSent(transfer->bytes);
  }
  return moved;
}

void StreamRingSender::CountSent(size_t bytes) {
  sent_of_first_ += bytes;
  while (!idle() && sent_of_first_ >= outgoing_[first_unsent_].size()) {
    const Outgoing& frame = outgoing_[first_unsent_];
    sent_of_first_ -= frame.size();
    payload_bytes_.fetch_add(static_cast<int64_t>(frame.payload.size()), std::memory_order_relaxed);
    messages_.fetch_add(1, std::memory_order_relaxed);
    ++first_unsent_;
  }
  if (idle()) {
    outgoing_.clear();
    first_unsent_ = 0;
  }
}

TrafficCounters StreamRingSender::traffic() const {
  TrafficCounters counters;
  counters.payload_bytes_sent = payload_bytes_.load(std::memory_order_relaxed);
  counters.messages_sent = messages_.load(std::memory_order_relaxed);
  counters.header_bytes_sent = counters.messages_sent * static_cast<int64_t>(kFrameHeaderBytes);
  return counters;
}

absl::StatusOr<std::unique_ptr<StreamRingReceiver>> StreamRingReceiver::Create(
    std::shared_ptr<ByteStream> stream, int left_rank, std::string link) {
  RINGSIDE_ASSIGN_OR_RETURN(
      std::unique_ptr<Arena> pieces,
      Arena::Create(kPieceBytes / static_cast<int64_t>(sizeof(float)), Arena::Placement::kHeap));
  return absl::WrapUnique(
      new StreamRingReceiver(std::move(stream), left_rank, std::move(link), std::move(pieces)));
}

StreamRingReceiver::StreamRingReceiver(std::shared_ptr<ByteStream> stream, int left_rank,
                                       std::string link, std::unique_ptr<Arena> pieces)
    : stream_(std::move(stream)),
      rank_(left_rank),
      link_(std::move(link)),
      pieces_(std::move(pieces)) {}

absl::StatusOr<size_t> StreamRingReceiver::Read(absl::Span<uint8_t> into) {
  const absl::StatusOr<ByteStream::Transfer> transfer = stream_->TryRead(into);
  if (!transfer.ok()) return EndError(transfer.status(), "connection from worker ", rank_);
  wait_for_ = transfer->wait_for;
  return transfer->bytes;
}

absl::StatusOr<bool> StreamRingReceiver::TryHeader(FrameHeader* header) {
  while (header_received_ < header_.size()) {
    RINGSIDE_ASSIGN_OR_RETURN(const size_t bytes,
                              Read(absl::MakeSpan(header_).subspan(header_received_)));
    if (bytes == 0) return false;
    header_received_ += bytes;
  }
  header_received_ = 0;
  absl::StatusOr<FrameHeader> decoded = DecodeFrameHeader(header_);
  if (!decoded.ok()) return EndError(decoded.status(), "from worker ", rank_);
  *header = *decoded;
  unread_ = static_cast<size_t>(header->payload_bytes());
  split_bytes_ = 0;
  if (unread_ == 0) messages_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

absl::StatusOr<size_t> StreamRingReceiver::TryReceive(absl::Span<uint8_t> into) {
  RINGSIDE_ASSIGN_OR_RETURN(const size_t bytes,
                            Read(into.subspan(0, std::min(into.size(), unread_))));
  CountReceived(bytes);
  return bytes;
}

absl::StatusOr<absl::Span<const uint8_t>> StreamRingReceiver::TryPiece() {
  auto* const buffer = reinterpret_cast<uint8_t*>(pieces_->span().data());
  if (split_begin_ != 0) std::memmove(buffer, buffer + split_begin_, split_bytes_);
  split_begin_ = 0;
  size_t here = split_bytes_;
  size_t whole = 0;
  while (whole == 0) {
    const size_t room = static_cast<size_t>(kPieceBytes) - here;
    RINGSIDE_ASSIGN_OR_RETURN(const size_t bytes,
                              Read(absl::MakeSpan(buffer + here, std::min(room, unread_))));
    if (bytes == 0) break;
    CountReceived(bytes);
    here += bytes;
    whole = unread_ == 0 ? here : here / sizeof(float) * sizeof(float);
  }
  split_begin_ = whole;
  split_bytes_ = here - whole;
  return absl::MakeConstSpan(buffer, whole);
}

void StreamRingReceiver::CountReceived(size_t payload_bytes) {
  unread_ -= payload_bytes;
  payload_bytes_.fetch_add(static_cast<int64_t>(payload_bytes), std::memory_order_relaxed);
  if (unread_ == 0 && payload_bytes > 0) messages_.fetch_add(1, std::memory_order_relaxed);
}

TrafficCounters StreamRingReceiver::traffic() const {
  TrafficCounters counters;
  counters.payload_bytes_received = payload_bytes_.load(std::memory_order_relaxed);
  counters.messages_received = messages_.load(std::memory_order_relaxed);
  counters.header_bytes_received =
      counters.messages_received * static_cast<int64_t>(kFrameHeaderBytes);
  return counters;
}

}  // namespace ringside
