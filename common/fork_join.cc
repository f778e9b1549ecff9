#include "common/fork_join.h"

#include <algorithm>

#include "common/check.h"

namespace ringside {
namespace {

// Two, so that a part is at least half of what is worth a hand-over.
constexpr int64_t kMinPartElements = ForkJoin::kMinElements / 2;

// True as soon as the condition is; false after a few microseconds. Not longer: with more threads
// than cores it is the others who need this one.
template <typename Condition>
bool SpinBriefly(const Condition& condition) {
  constexpr int kLooks = 200;
  for (int i = 0; i < kLooks; ++i) {
    if (condition()) return true;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  return condition();
}

}  // namespace

ForkJoin::ForkJoin(int threads) {
  RINGSIDE_CHECK(threads >= 1);
  helpers_.reserve(static_cast<size_t>(threads) - 1);
  for (int helper = 1; helper < threads; ++helper) helpers_.emplace_back([this] { Help(); });
}

ForkJoin::~ForkJoin() {
  {
    MutexLock lock(&mutex_);
    stopping_ = true;
    work_.NotifyAll();
  }
  for (std::thread& helper : helpers_) helper.join();
}

void ForkJoin::Run(int64_t elements, absl::FunctionRef<void(const ElementRange&)> work) {
  if (elements <= 0) return;
  if (helpers_.empty() || elements < kMinElements) return work({0, elements});
  const int64_t wanted = std::min<int64_t>(threads(), elements / kMinPartElements);
  const int64_t part = (elements + wanted * kAlignment - 1) / (wanted * kAlignment) * kAlignment;
  const auto parts = static_cast<int>((elements + part - 1) / part);
  const Job job{work, elements, part};
  job_ = &job;
  unfinished_.store(parts, std::memory_order_relaxed);
  {
    MutexLock lock(&mutex_);  // so that no helper misses it on its way to sleep
    untaken_.store(parts, std::memory_order_release);
    work_.NotifyAll();
  }
  while (DoOnePart()) {
  }
  AwaitParts();
}

bool ForkJoin::DoOnePart() {
  int untaken = untaken_.load(std::memory_order_relaxed);
  do {
    if (untaken == 0) return false;
  } while (!untaken_.compare_exchange_weak(untaken, untaken - 1, std::memory_order_acquire,
                                           std::memory_order_relaxed));
  const Job& job = *job_;  // it lives until the part is done
  const int64_t begin = (untaken - 1) * job.part_elements;
  job.work({begin, std::min(job.part_elements, job.elements - begin)});
  if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    MutexLock lock(&mutex_);
    done_.NotifyOne();
  }
  return true;
}

void ForkJoin::AwaitParts() {
  const auto all_done = [this] { return unfinished_.load(std::memory_order_acquire) == 0; };
  if (SpinBriefly(all_done)) return;
  MutexLock lock(&mutex_);
  while (!all_done()) done_.Wait(&mutex_);
}

void ForkJoin::Help() {
  for (;;) {
    while (DoOnePart()) {
    }
    if (SpinBriefly([this] { return HasWork(); })) continue;
    MutexLock lock(&mutex_);
    while (!HasWork() && !stopping_) work_.Wait(&mutex_);
    if (stopping_) return;
  }
}

}  // namespace ringside
