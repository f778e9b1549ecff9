// A priority queue that costs little where an item is taken and another one put in its place, as a
// simulation of events does nearly always: what is taken leaves a hole, which the next item fills.
// Four children a node, as that is kinder to the cache than two (LaMarca and Ladner 1996).
// Deterministic as long as no two items are equal. Thread-compatible.
#ifndef RINGSIDE_EXPERIMENTS_MODEL_MIN_HEAP_H_
#define RINGSIDE_EXPERIMENTS_MODEL_MIN_HEAP_H_

#include <algorithm>
#include <cstddef>
#include <vector>

namespace ringside {

// `Item` is copied, and has operator<.
template <typename Item>
class MinHeap {
 public:
  size_t size() const { return items_.size() - (hole_ ? 1 : 0); }
  bool empty() const { return size() == 0; }

  void Push(const Item& item) {
    if (hole_) {
      hole_ = false;
      SiftDown(item);
      return;
    }
    items_.push_back(item);
    SiftUp(item);
  }

  // REQUIRES: !empty().
  const Item& top() {
    FillHole();
    return items_[0];
  }

  // The least. REQUIRES: !empty().
  Item Pop() {
    FillHole();
    hole_ = true;
    return items_[0];
  }

 private:
  static constexpr size_t kChildren = 4;

  void FillHole() {
    if (!hole_) return;
    hole_ = false;
    const Item last = items_.back();
    items_.pop_back();
    if (!items_.empty()) SiftDown(last);
  }

  // Finds the place of `item`, which replaces the first one.
  void SiftDown(const Item& item) {
    size_t place = 0;
    for (;;) {
      const size_t first = place * kChildren + 1;
      if (first >= items_.size()) break;
      const size_t end = std::min(first + kChildren, items_.size());
      size_t least = first;
      for (size_t child = first + 1; child < end; ++child) {
        least = items_[child] < items_[least] ? child : least;
      }
      if (!(items_[least] < item)) break;
      items_[place] = items_[least];
      place = least;
    }
    items_[place] = item;
  }

  // Finds the place of `item`, which is the last one.
  void SiftUp(const Item& item) {
    size_t place = items_.size() - 1;
    while (place > 0) {
      const size_t parent = (place - 1) / kChildren;
      if (!(item < items_[parent])) break;
      items_[place] = items_[parent];
      place = parent;
    }
    items_[place] = item;
  }

  std::vector<Item> items_;
  bool hole_ = false;  // the first item was taken
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MODEL_MIN_HEAP_H_
