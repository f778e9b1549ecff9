// Hands out the payload of one received frame as whole, aligned elements, though it lies in pieces
// that start and end anywhere.
//
// Pieces that are aligned are lent where they are; what is not, or is split between two pieces,
// goes through a block that stays in the first-level cache. Thread-compatible.
#ifndef RINGSIDE_ALLREDUCE_PAYLOAD_READER_H_
#define RINGSIDE_ALLREDUCE_PAYLOAD_READER_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "common/frame_payload.h"

namespace ringside {

class PayloadReader {
 public:
  // Takes the place of an earlier payload. `payload` has whole elements.
  void Start(FramePayload payload, int64_t bytes_per_element);

  int64_t remaining_bytes() const { return remaining_bytes_; }

  // The next into.size() bytes. REQUIRES: so many remain.
  void CopyTo(absl::Span<uint8_t> into);
  // More of it, lent until the next call of any of these. Empty only when nothing remains.
  absl::Span<const uint8_t> Next();

 private:
  static constexpr size_t kBlockBytes = 16 << 10;

  // What is left of the current piece, which is the next one with anything in it.
  absl::Span<const uint8_t> Current();
  void Advance(size_t bytes);

  FramePayload payload_;
  size_t bytes_per_element_ = 1;
  int64_t remaining_bytes_ = 0;
  size_t piece_ = 0;
  size_t offset_ = 0;  // in the current piece
  alignas(64) std::array<uint8_t, kBlockBytes> block_;
};

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_PAYLOAD_READER_H_
