#include "experiments/model/fair_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <tuple>
#include <vector>

namespace ringside {
namespace {

// Start-time fair queueing as it is written: every item with its start, the least of which is next.
class TextbookQueue {
 public:
  bool empty() const { return waiting_.empty(); }
  void Push(int flow, double size, int item) {
    const double start = std::max(now_, ends_[flow]);
    ends_[flow] = start + size;
    waiting_.emplace_back(start, numbers_++, item);
  }
  void Rest() {
    ends_.clear();
    now_ = 0;
  }
  int Pop() {
    const auto next = std::min_element(waiting_.begin(), waiting_.end());
    const int item = std::get<2>(*next);
    now_ = std::get<0>(*next);
    waiting_.erase(next);
    return item;
  }

 private:
  std::vector<std::tuple<double, int64_t, int>> waiting_;
  std::map<int, double> ends_;
  double now_ = 0;
  int64_t numbers_ = 0;
};

TEST(FairQueueTest, ServesInTheOrderOfTheTextbook) {
  std::mt19937_64 random(1);
  FairQueue<int> queue;
  TextbookQueue textbook;
  for (int i = 0; i < 20'000; ++i) {
    const bool puts = textbook.empty() || random() % 100 < (i / 500 % 2 == 0 ? 60u : 35u);
    if (textbook.empty() && random() % 2 == 0) {
      queue.Rest();
      textbook.Rest();
    }
    if (puts) {
      const int flow = static_cast<int>(random() % 7) * 100;
      const double size = static_cast<double>(random() % 4);  // many equal, some 0
      queue.Push(flow, size, i);
      textbook.Push(flow, size, i);
    } else {
      ASSERT_EQ(queue.Pop(), textbook.Pop()) << "operation " << i;
    }
    ASSERT_EQ(queue.empty(), textbook.empty());
  }
}

TEST(FairQueueTest, FlowsTakeTurns) {
  FairQueue<int> queue;
  for (int item : {10, 11, 12}) queue.Push(1, 1, item);
  for (int item : {20, 21}) queue.Push(2, 1, item);
  for (int item : {10, 20, 11, 21, 12}) EXPECT_EQ(queue.Pop(), item);
  EXPECT_TRUE(queue.empty());
}

TEST(FairQueueTest, RestForgetsWhatWasServed) {
  for (bool rests : {false, true}) {
    FairQueue<int> queue;
    queue.Push(1, 100, 10);
    queue.Push(2, 1, 20);
    for (int item : {10, 20}) EXPECT_EQ(queue.Pop(), item);
    if (rests) queue.Rest();
    queue.Push(1, 1, 11);
    queue.Push(2, 1, 21);
    // Without a rest, flow 1 has had its share for long.
    EXPECT_EQ(queue.Pop(), rests ? 11 : 21);
  }
}

}  // namespace
}  // namespace ringside
