// What the contenders of the benches measure with.
#ifndef RINGSIDE_ALLREDUCE_BENCH_STOPWATCH_H_
#define RINGSIDE_ALLREDUCE_BENCH_STOPWATCH_H_

#include <sched.h>

#include <algorithm>
#include <chrono>

namespace ringside {

// Seconds that `work` takes.
template <typename Work>
double SecondsOf(Work&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Cores that this process may run on; at least 1.
inline int UsableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_BENCH_STOPWATCH_H_
