// Work on disjoint ranges of elements by several threads that begin and end together.
//
// The caller hands out parts and takes parts itself; helper threads take what they can get. A
// helper that wakes late finds nothing left, so a busy machine costs speed and never the time of a
// sleep. Between two pieces of work helpers look for the next one for some microseconds, then
// sleep.
//
// For work that is element by element, so that the bits depend neither on the number of threads nor
// on who takes which part. Thread-compatible: one caller at a time. Nothing is allocated by Run.
#ifndef RINGSIDE_COMMON_FORK_JOIN_H_
#define RINGSIDE_COMMON_FORK_JOIN_H_

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"
#include "common/element_range.h"
#include "common/mutex.h"

namespace ringside {

class ForkJoin {
 public:
  // Fewer are not worth a hand-over: 256 KiB take about 20 us from memory.
  static constexpr int64_t kMinElements = 64 << 10;
  // Ranges begin at multiples of it: cache lines of floats, where the buffers are aligned so.
  static constexpr int64_t kAlignment = 16;

  // The caller and `threads` - 1 helpers. REQUIRES: at least 1.
  explicit ForkJoin(int threads);
  ~ForkJoin();
  ForkJoin(const ForkJoin&) = delete;
  ForkJoin& operator=(const ForkJoin&) = delete;

  int threads() const { return static_cast<int>(helpers_.size()) + 1; }

  // Calls `work` for disjoint ranges that together are [0, elements), from this thread and from
  // helpers, and returns when all calls have. With less than kMinElements there is one call, from
  // this thread; of no elements, none. Blocks for as long as the work takes.
  void Run(int64_t elements, absl::FunctionRef<void(const ElementRange&)> work);

 private:
  struct Job {
    absl::FunctionRef<void(const ElementRange&)> work;
    int64_t elements;
    int64_t part_elements;
  };

  void Help();
  // Takes one part of the job and does it. False: none is left.
  bool DoOnePart();
  void AwaitParts();
  bool HasWork() const { return untaken_.load(std::memory_order_relaxed) > 0; }

  // Of the job that has untaken parts or parts that are being done; written only while it has none.
  const Job* job_ = nullptr;
  std::atomic<int> untaken_{0};     // parts; who takes one has seen the job that it is of
  std::atomic<int> unfinished_{0};  // parts

  Mutex mutex_;
  CondVar work_;  // there are untaken parts, or stopping_
  CondVar done_;  // unfinished_ is 0
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;

  std::vector<std::thread> helpers_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_FORK_JOIN_H_
