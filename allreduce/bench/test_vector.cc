#include "allreduce/bench/test_vector.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace ringside {
namespace {

// A prime, so that no chunk, segment or page is a multiple of it: what lands in the wrong place
// shows.
constexpr size_t kPeriod = 997;
using Pattern = std::array<float, kPeriod>;

// 0 to 7: the top bits of MurmurHash3's finalizer.
float Value(int rank, size_t index) {
  auto mixed = static_cast<uint32_t>(index + 1009 * (static_cast<size_t>(rank) + 1));
  mixed = (mixed ^ (mixed >> 16)) * 0x85ebca6bu;
  mixed = (mixed ^ (mixed >> 13)) * 0xc2b2ae35u;
  return static_cast<float>((mixed ^ (mixed >> 16)) >> 29);
}

Pattern RankPattern(int rank) {
  Pattern pattern;
  for (size_t i = 0; i < kPeriod; ++i) pattern[i] = Value(rank, i);
  return pattern;
}

int64_t CountOtherThan(const Pattern& pattern, absl::Span<const float> values) {
  int64_t other = 0;
  for (size_t begin = 0; begin < values.size(); begin += kPeriod) {
    const size_t length = std::min(kPeriod, values.size() - begin);
    // Nearly always all is well, and then one comparison settles it.
    if (std::memcmp(&values[begin], pattern.data(), length * sizeof(float)) == 0) continue;
    for (size_t i = 0; i < length; ++i) other += values[begin + i] == pattern[i] ? 0 : 1;
  }
  return other;
}

}  // namespace

void FillTestVector(int rank, absl::Span<float> values) {
  const Pattern pattern = RankPattern(rank);
  for (size_t begin = 0; begin < values.size(); begin += kPeriod) {
    std::copy_n(pattern.begin(), std::min(kPeriod, values.size() - begin), &values[begin]);
  }
}

int64_t CountOtherThanTestVector(int rank, absl::Span<const float> values) {
  return CountOtherThan(RankPattern(rank), values);
}

int64_t CountWrongSums(int world_size, absl::Span<const float> sums) {
  Pattern pattern = RankPattern(0);
  for (int rank = 1; rank < world_size; ++rank) {
    for (size_t i = 0; i < kPeriod; ++i) pattern[i] += Value(rank, i);
  }
  return CountOtherThan(pattern, sums);
}

}  // namespace ringside
