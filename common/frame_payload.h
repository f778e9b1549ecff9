// The payload of a received frame, kept where the transport put it.
//
// A transport delivers a payload in pieces that start and end anywhere, also in the middle of a
// float. FramePayload keeps them as they are, with whatever owns the memory, so that a frame can be
// parked and folded later without a copy. Movable, thread-compatible. The bytes are little-endian
// float32, as on the wire.
#ifndef RINGSIDE_COMMON_FRAME_PAYLOAD_H_
#define RINGSIDE_COMMON_FRAME_PAYLOAD_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace ringside {

class FramePayload {
 public:
  using Piece = absl::Span<const uint8_t>;

  FramePayload() = default;
  // `owner` keeps the memory of `pieces` alive for as long as this object lives.
  FramePayload(std::vector<Piece> pieces, std::shared_ptr<const void> owner)
      : pieces_(std::move(pieces)), owner_(std::move(owner)) {}
  FramePayload(FramePayload&&) = default;
  FramePayload& operator=(FramePayload&&) = default;

  int64_t bytes() const;
  // Live as long as this object.
  const std::vector<Piece>& pieces() const { return pieces_; }

  // The payload itself, where it lies in one piece as floats do, as in shared memory; else, or
  // where it is empty, nothing. Lives as long as this object.
  absl::Span<const float> AsFloats() const;

  // out[i] = payload[i]. `out` may be a part of a buffer of `whole_elements` which is filled part
  // by part: where that is larger than the caches, stores go past them, if there are AsFloats.
  // REQUIRES: bytes() is four times the length of `out`.
  void CopyTo(absl::Span<float> out, int64_t whole_elements = 0) const;

 private:
  std::vector<Piece> pieces_;
  std::shared_ptr<const void> owner_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_FRAME_PAYLOAD_H_
