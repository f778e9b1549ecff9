#include "common/frame_payload.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "common/check.h"
#include "common/reduction.h"

namespace ringside {
namespace {

// Pieces that a transport cut are rarely aligned for floats. They are brought to aligned memory in
// blocks that stay in the first-level cache, which costs little next to the memory traffic of the
// addition itself.
constexpr size_t kBlockFloats = 1024;

bool IsAligned(const uint8_t* bytes) {
  return reinterpret_cast<uintptr_t>(bytes) % alignof(float) == 0;
}

void AddFloats(const uint8_t* bytes, absl::Span<float> sum) {
  if (IsAligned(bytes)) {
    Add(sum, {reinterpret_cast<const float*>(bytes), sum.size()}, sum);
    return;
  }
  alignas(64) float block[kBlockFloats];
  for (size_t at = 0; at < sum.size(); at += kBlockFloats) {
    const size_t count = std::min(kBlockFloats, sum.size() - at);
    std::memcpy(block, bytes + at * sizeof(float), count * sizeof(float));
    const absl::Span<float> part = sum.subspan(at, count);
    Add(part, {block, count}, part);
  }
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

void FramePayload::AddTo(absl::Span<float> sum) const {
  RINGSIDE_CHECK(bytes() == static_cast<int64_t>(sum.size() * sizeof(float)));
  uint8_t split[sizeof(float)];  // a float that pieces share
  size_t split_bytes = 0;
  size_t done = 0;
  for (Piece piece : pieces_) {
    while (split_bytes > 0 && !piece.empty()) {
      split[split_bytes++] = piece.front();
      piece.remove_prefix(1);
      if (split_bytes == sizeof(float)) {
        AddFloats(split, sum.subspan(done++, 1));
        split_bytes = 0;
      }
    }
    const size_t whole = piece.size() / sizeof(float);
    AddFloats(piece.data(), sum.subspan(done, whole));
    done += whole;
    piece.remove_prefix(whole * sizeof(float));
    for (uint8_t byte : piece) split[split_bytes++] = byte;
  }
}

}  // namespace ringside
