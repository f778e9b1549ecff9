#include "common/frame_payload.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "common/check.h"
#include "common/reduction.h"

namespace ringside {
namespace {

bool IsAligned(const uint8_t* bytes) {
  return reinterpret_cast<uintptr_t>(bytes) % alignof(float) == 0;
}

}  // namespace

int64_t FramePayload::bytes() const {
  int64_t sum = 0;
  for (const Piece& piece : pieces_) sum += static_cast<int64_t>(piece.size());
  return sum;
}

absl::Span<const float> FramePayload::AsFloats() const {
  if (pieces_.size() != 1 || pieces_[0].size() % sizeof(float) != 0) return {};
  if (!IsAligned(pieces_[0].data())) return {};
  return {reinterpret_cast<const float*>(pieces_[0].data()), pieces_[0].size() / sizeof(float)};
}

void FramePayload::CopyTo(absl::Span<float> out, int64_t whole_elements) const {
  RINGSIDE_CHECK(bytes() == static_cast<int64_t>(out.size() * sizeof(float)));
  const absl::Span<const float> floats = AsFloats();
  if (!floats.empty()) {
    CopyPart(floats, out, whole_elements);
    return;
  }
  auto* position = reinterpret_cast<uint8_t*>(out.data());
  for (const Piece& piece : pieces_) {
    if (piece.empty()) continue;
    std::memcpy(position, piece.data(), piece.size());
    position += piece.size();
  }
}

}  // namespace ringside
