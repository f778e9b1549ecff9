#include "common/fork_join.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <numeric>
#include <thread>
#include <vector>

namespace ringside {
namespace {

constexpr int64_t kMin = ForkJoin::kMinElements;

// How often each element was in a range.
std::vector<int> CountsOf(ForkJoin* fork_join, int64_t elements) {
  std::vector<int> counts(elements, 0);  // ranges are disjoint, or TSan sees a race
  fork_join->Run(elements, [&](const ElementRange& range) {
    ASSERT_GE(range.begin, 0);
    ASSERT_LE(range.end(), elements);
    for (int64_t i = range.begin; i < range.end(); ++i) ++counts[i];
  });
  return counts;
}

TEST(ForkJoinTest, EveryElementIsInOneRange) {
  for (int threads : {1, 2, 3, 8}) {
    ForkJoin fork_join(threads);
    EXPECT_EQ(fork_join.threads(), threads);
    for (int64_t elements : {int64_t{1}, int64_t{17}, kMin - 1, kMin, kMin + 1, 2 * kMin + 15,
                             3 * kMin + 1, 5 * kMin + 12345}) {
      ASSERT_EQ(CountsOf(&fork_join, elements), std::vector<int>(elements, 1))
          << threads << " threads, " << elements << " elements";
    }
  }
}

TEST(ForkJoinTest, RangesBeginAtCacheLinesAndAreWorthAHandOver) {
  ForkJoin fork_join(7);
  for (int64_t elements : {kMin, kMin + 1, 4 * kMin + 3}) {
    fork_join.Run(elements, [&](const ElementRange& range) {
      EXPECT_EQ(range.begin % ForkJoin::kAlignment, 0);
      if (range.end() < elements) {
        EXPECT_GE(range.length, kMin / 2);
      }
    });
  }
}

TEST(ForkJoinTest, NoElementsNoCallAndFewAreOneCallOnTheCallersThread) {
  ForkJoin fork_join(4);
  fork_join.Run(0, [](const ElementRange&) { FAIL(); });
  const std::thread::id caller = std::this_thread::get_id();
  int calls = 0;
  fork_join.Run(kMin - 1, [&](const ElementRange& range) {
    ++calls;
    EXPECT_EQ(range, (ElementRange{0, kMin - 1}));
    EXPECT_EQ(std::this_thread::get_id(), caller);
  });
  EXPECT_EQ(calls, 1);
}

// Two parts that wait for each other can only end on two threads.
TEST(ForkJoinTest, PartsRunAtTheSameTime) {
  ForkJoin fork_join(2);
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> here{0};
    fork_join.Run(kMin, [&](const ElementRange&) {
      ++here;
      while (here < 2) std::this_thread::yield();
    });
    EXPECT_EQ(here, 2);
  }
}

// What one piece of work has written, the next one reads, whoever does which part.
TEST(ForkJoinTest, PiecesOfWorkFollowEachOther) {
  ForkJoin fork_join(3);
  std::vector<int> from(3 * kMin);
  std::iota(from.begin(), from.end(), 0);
  std::vector<int> to(from.size());
  for (int round = 0; round < 100; ++round) {
    const auto elements = static_cast<int64_t>(from.size());
    fork_join.Run(elements, [&](const ElementRange& range) {
      for (int64_t i = range.begin; i < range.end(); ++i) to[i] = from[elements - 1 - i];
    });
    from.swap(to);
  }
  std::vector<int> expected(from.size());
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(from, expected);
}

}  // namespace
}  // namespace ringside
