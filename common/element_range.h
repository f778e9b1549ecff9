// A half-open range of elements of a flat buffer.
#ifndef RINGSIDE_COMMON_ELEMENT_RANGE_H_
#define RINGSIDE_COMMON_ELEMENT_RANGE_H_

#include <algorithm>
#include <cstdint>

namespace ringside {

struct ElementRange {
  int64_t begin = 0;
  int64_t length = 0;

  int64_t end() const { return begin + length; }
  bool empty() const { return length == 0; }
  friend bool operator==(const ElementRange& a, const ElementRange& b) {
    return a.begin == b.begin && a.length == b.length;
  }
};

// The common part; empty (length 0) when there is none.
inline ElementRange Intersect(const ElementRange& a, const ElementRange& b) {
  const int64_t begin = std::max(a.begin, b.begin);
  return {begin, std::max<int64_t>(0, std::min(a.end(), b.end()) - begin)};
}

// Part `index` of `parts` nearly equal parts of `whole`: the first (length mod parts) have one
// element more. With parts = world size this is chunk `index` of a bucket, as the law of summation
// has it; with parts = number of shards it is the stripe of a shard; with the samples of a global
// batch it is the share of a rank.
inline ElementRange Part(const ElementRange& whole, int64_t parts, int64_t index) {
  const int64_t base = whole.length / parts;
  const int64_t longer = whole.length % parts;
  const int64_t begin = whole.begin + index * base + std::min(index, longer);
  return {begin, base + (index < longer ? 1 : 0)};
}

}  // namespace ringside

#endif  // RINGSIDE_COMMON_ELEMENT_RANGE_H_
