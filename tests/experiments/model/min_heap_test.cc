#include "experiments/model/min_heap.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <queue>
#include <random>
#include <vector>

namespace ringside {
namespace {

TEST(MinHeapTest, GivesWhatTheStandardLibrarysQueueGives) {
  std::mt19937_64 random(1);
  MinHeap<uint64_t> heap;
  std::priority_queue<uint64_t, std::vector<uint64_t>, std::greater<>> expected;
  for (int i = 0; i < 20'000; ++i) {
    // Grows, then shrinks, and is empty several times.
    const bool puts = expected.empty() || random() % 100 < (i / 1000 % 2 == 0 ? 60u : 35u);
    if (puts) {
      const uint64_t item = random() % 1000;
      heap.Push(item);
      expected.push(item);
    } else {
      ASSERT_EQ(heap.Pop(), expected.top()) << "operation " << i;
      expected.pop();
    }
    ASSERT_EQ(heap.size(), expected.size());
    if (!expected.empty() && random() % 2 == 0) {
      ASSERT_EQ(heap.top(), expected.top());
    }
  }
  while (!expected.empty()) {
    EXPECT_EQ(heap.Pop(), expected.top());
    expected.pop();
  }
  EXPECT_TRUE(heap.empty());
}

TEST(MinHeapTest, ReplacesWhatWasTaken) {
  MinHeap<int> heap;
  for (int item : {5, 3, 8}) heap.Push(item);
  EXPECT_EQ(heap.Pop(), 3);
  heap.Push(9);
  EXPECT_EQ(heap.size(), 3u);
  for (int item : {5, 8, 9}) EXPECT_EQ(heap.Pop(), item);
  EXPECT_TRUE(heap.empty());
  heap.Push(1);
  EXPECT_EQ(heap.top(), 1);
  EXPECT_EQ(heap.size(), 1u);
}

}  // namespace
}  // namespace ringside
