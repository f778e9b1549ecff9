#include "experiments/ceilings/memory_ceiling.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "common/arena.h"
#include "common/check.h"
#include "common/coordinator/monotonic_clock.h"
#include "common/reduction.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

constexpr int64_t kElements = (64 << 20) / sizeof(float);
constexpr int64_t kCachedElements = (128 << 10) / sizeof(float);
constexpr int64_t kBlockElements = (1 << 20) / sizeof(float);  // between two looks at the clock
constexpr int kMostThreads = 16;
constexpr int kRounds = 3;
constexpr absl::Duration kRoundTime = absl::Milliseconds(12);

enum class Work { kCopy, kAdd };

// What one thread goes round and round in. It begins where the round before has ended: else a slow
// machine would find the same part in its caches again and again.
struct Stretch {
  absl::Span<const float> from;
  absl::Span<float> to;
  int64_t next = 0;
};

double RoundOfOne(Work work, int64_t whole_elements, Stretch* part) {
  const auto size = static_cast<int64_t>(part->to.size());
  const absl::Time start = MonotonicNow();
  int64_t moved = 0;
  absl::Duration took;
  do {
    const int64_t block = std::min(kBlockElements, size - part->next);
    const absl::Span<const float> from = part->from.subspan(part->next, block);
    const absl::Span<float> to = part->to.subspan(part->next, block);
    if (work == Work::kCopy) {
      CopyPart(from, to, whole_elements);
    } else {
      Add(from, to, to);
    }
    moved += block;
    part->next = (part->next + block) % size;
    took = MonotonicNow() - start;
  } while (took < kRoundTime);
  return static_cast<double>(moved) * sizeof(float) / absl::ToDoubleSeconds(took);
}

// All parts at once, a thread for each.
double RoundOfAll(Work work, int64_t whole_elements, std::vector<Stretch>* parts) {
  if (parts->size() == 1) return RoundOfOne(work, whole_elements, &parts->front());
  std::vector<double> rates(parts->size());
  std::atomic<size_t> missing{parts->size()};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < parts->size(); ++i) {
    threads.emplace_back([&, i] {
      --missing;
      while (missing > 0) std::this_thread::yield();
      rates[i] = RoundOfOne(work, whole_elements, &(*parts)[i]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

double BestOf(Work work, int64_t whole_elements, std::vector<Stretch>* parts) {
  double best = 0;
  for (int i = 0; i < kRounds; ++i) best = std::max(best, RoundOfAll(work, whole_elements, parts));
  return best;
}

MemoryCeiling CeilingOf(std::vector<Stretch> parts) {
  MemoryCeiling ceiling;
  ceiling.set_copy_bytes_per_s(BestOf(Work::kCopy, kElements, &parts));
  ceiling.set_add_bytes_per_s(BestOf(Work::kAdd, kElements, &parts));
  return ceiling;
}

std::vector<Stretch> Cut(absl::Span<const float> from, absl::Span<float> to, int parts) {
  std::vector<Stretch> cut;
  const size_t length = to.size() / static_cast<size_t>(parts);
  for (size_t i = 0; i < static_cast<size_t>(parts); ++i)
    cut.push_back({from.subspan(i * length, length), to.subspan(i * length, length), 0});
  return cut;
}

}  // namespace

absl::StatusOr<MemoryCeilings> ProbeMemory(int cores) {
  RINGSIDE_CHECK(cores >= 1);
  RINGSIDE_ASSIGN_OR_RETURN(const std::unique_ptr<Arena> from,
                            Arena::Create(kElements, Arena::Placement::kHeap));
  RINGSIDE_ASSIGN_OR_RETURN(const std::unique_ptr<Arena> to,
                            Arena::Create(kElements, Arena::Placement::kHeap));
  MemoryCeilings ceilings;
  ceilings.one_core = CeilingOf(Cut(from->span(), to->span(), 1));
  ceilings.all_cores =
      cores == 1 ? ceilings.one_core
                 : CeilingOf(Cut(from->span(), to->span(), std::min(cores, kMostThreads)));
  std::vector<Stretch> cached =
      Cut(from->span().first(kCachedElements), to->span().first(kCachedElements), 1);
  ceilings.cached_copy_bytes_per_s = BestOf(Work::kCopy, kCachedElements, &cached);
  return ceilings;
}

}  // namespace ringside
