#include "allreduce/payload_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/check.h"

namespace ringside {

void PayloadReader::Start(FramePayload payload, int64_t bytes_per_element) {
  payload_ = std::move(payload);
  bytes_per_element_ = static_cast<size_t>(bytes_per_element);
  remaining_bytes_ = payload_.bytes();
  piece_ = 0;
  offset_ = 0;
}

void PayloadReader::CopyTo(absl::Span<uint8_t> into) {
  RINGSIDE_CHECK(static_cast<int64_t>(into.size()) <= remaining_bytes_);
  while (!into.empty()) {
    const absl::Span<const uint8_t> current = Current();
    const size_t take = std::min(current.size(), into.size());
    std::memcpy(into.data(), current.data(), take);
    into.remove_prefix(take);
    Advance(take);
  }
}

absl::Span<const uint8_t> PayloadReader::Next() {
  if (remaining_bytes_ == 0) return {};
  const absl::Span<const uint8_t> current = Current();
  const size_t whole = current.size() - current.size() % bytes_per_element_;
  if (whole > 0 && reinterpret_cast<uintptr_t>(current.data()) % bytes_per_element_ == 0) {
    Advance(whole);
    return current.subspan(0, whole);
  }
  const absl::Span<uint8_t> block = absl::MakeSpan(block_).subspan(
      0, static_cast<size_t>(std::min<int64_t>(kBlockBytes, remaining_bytes_)));
  CopyTo(block);
  return block;
}

absl::Span<const uint8_t> PayloadReader::Current() {
  while (payload_.pieces()[piece_].size() == offset_) {
    ++piece_;
    offset_ = 0;
  }
  return payload_.pieces()[piece_].subspan(offset_);
}

void PayloadReader::Advance(size_t bytes) {
  offset_ += bytes;
  remaining_bytes_ -= static_cast<int64_t>(bytes);
}

}  // namespace ringside
