// Time of one sum over a ring of threads and loopback TCP. A first look only: threads of one
// process share what processes do not. Sums are verified before they are timed.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/time/clock.h"
#include "common/check.h"
#include "tests/testing/ring_cluster.h"

namespace ringside {
namespace {

constexpr int kSumsPerIteration = 10;  // so that starting threads does not count

void BM_RingSum(benchmark::State& state) {
  const int ranks = static_cast<int>(state.range(0));
  const int64_t elements = state.range(1) / 4;
  auto reducers = MakeRingReducers(ranks, int64_t{256} << 10);
  RINGSIDE_CHECK(reducers.ok());
  std::vector<std::vector<float>> in(ranks, std::vector<float>(elements, 1.5f));
  std::vector<std::vector<float>> out(ranks, std::vector<float>(elements));
  uint64_t step = 0;
  const auto sum_all = [&](int count) {
    const uint64_t first = step;
    step += count;
    for (const absl::Status& status : RunRanks(ranks, [&](int rank) {
           absl::Status result;
           for (int i = 0; i < count && result.ok(); ++i) {
             result = (*reducers)[rank]->Sum({first + i, 0}, in[rank], absl::MakeSpan(out[rank]));
           }
           return result;
         })) {
      RINGSIDE_CHECK(status.ok());
    }
  };
  sum_all(2);
  for (const auto& sum : out) {
    RINGSIDE_CHECK(std::all_of(sum.begin(), sum.end(), [&](float x) { return x == 1.5f * ranks; }));
  }
  for (auto _ : state) {
    const absl::Time start = absl::Now();
    sum_all(kSumsPerIteration);
    state.SetIterationTime(absl::ToDoubleSeconds(absl::Now() - start) / kSumsPerIteration);
  }
  const double algbw_bytes = static_cast<double>(elements) * 4;
  state.counters["busbw"] = benchmark::Counter(
      algbw_bytes * 2 * (ranks - 1) / ranks * static_cast<double>(state.iterations()),
      benchmark::Counter::kIsRate);
}
BENCHMARK(BM_RingSum)
    ->ArgNames({"ranks", "bytes"})
    ->ArgsProduct({{2, 4}, {4 << 10, 1 << 20, 16 << 20}})
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace ringside

BENCHMARK_MAIN();
