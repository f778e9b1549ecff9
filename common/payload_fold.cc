#include "common/payload_fold.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "common/check.h"
#include "common/reduction.h"

namespace ringside {
namespace {

// A position in a payload. The kernels ask for no alignment, so elements are used where they lie;
// only one that is split between pieces is put together.
class Cursor {
 public:
  // At the first byte of `element`.
  Cursor(const FramePayload& payload, int64_t element) : pieces_(payload.pieces()) {
    size_t skip = static_cast<size_t>(element) * sizeof(float);
    while (piece_ < pieces_.size() && skip >= pieces_[piece_].size()) {
      skip -= pieces_[piece_++].size();
    }
    offset_ = skip;
  }

  // Elements that lie in the current piece as a whole.
  size_t WholeElements() const {
    return piece_ < pieces_.size() ? (pieces_[piece_].size() - offset_) / sizeof(float) : 0;
  }
  // The next `count` elements. REQUIRES: count <= WholeElements().
  const float* Take(size_t count) {
    const uint8_t* const at = pieces_[piece_].data() + offset_;
    Advance(count * sizeof(float));
    return reinterpret_cast<const float*>(at);
  }
  // The next element, wherever its bytes lie.
  float TakeOne() {
    uint8_t bytes[sizeof(float)];
    for (uint8_t& byte : bytes) {
      byte = pieces_[piece_][offset_];
      Advance(1);
    }
    float element = 0;
    std::memcpy(&element, bytes, sizeof(element));
    return element;
  }

 private:
  void Advance(size_t bytes) {
    offset_ += bytes;
    SkipEmpty();
  }
  void SkipEmpty() {
    while (piece_ < pieces_.size() && offset_ == pieces_[piece_].size()) {
      ++piece_;
      offset_ = 0;
    }
  }

  const std::vector<FramePayload::Piece>& pieces_;
  size_t piece_ = 0;
  size_t offset_ = 0;
};

// `out` is the sum of the elements from `begin` on.
void FoldFrom(absl::Span<const FramePayload* const> payloads, int64_t begin,
              absl::Span<float> out) {
  std::vector<Cursor> cursors;
  cursors.reserve(payloads.size());
  for (const FramePayload* payload : payloads) cursors.emplace_back(*payload, begin);
  std::vector<const float*> terms(payloads.size());
  std::vector<float> split(payloads.size());
  while (!out.empty()) {
    size_t run = out.size();
    for (const Cursor& cursor : cursors) run = std::min(run, cursor.WholeElements());
    const size_t count = std::max<size_t>(run, 1);
    for (size_t i = 0; i < cursors.size(); ++i) {
      if (cursors[i].WholeElements() >= count) {
        terms[i] = cursors[i].Take(count);
      } else {
        split[i] = cursors[i].TakeOne();
        terms[i] = &split[i];
      }
    }
    Fold(absl::MakeConstSpan(terms), out.first(count));
    out.remove_prefix(count);
  }
}

}  // namespace

void FoldPayloads(absl::Span<const FramePayload* const> payloads, ForkJoin* fork_join,
                  absl::Span<float> out) {
  RINGSIDE_CHECK(!payloads.empty());
  for (const FramePayload* payload : payloads) {
    RINGSIDE_CHECK(payload->bytes() == static_cast<int64_t>(out.size() * sizeof(float)));
  }
  fork_join->Run(static_cast<int64_t>(out.size()), [&](const ElementRange& range) {
    FoldFrom(payloads, range.begin, out.subspan(range.begin, range.length));
  });
}

void CopyWith(ForkJoin* fork_join, absl::Span<const float> from, absl::Span<float> to) {
  RINGSIDE_CHECK(from.size() == to.size());
  fork_join->Run(static_cast<int64_t>(from.size()), [&](const ElementRange& range) {
    Copy(from.subspan(range.begin, range.length), to.subspan(range.begin, range.length));
  });
}

}  // namespace ringside
