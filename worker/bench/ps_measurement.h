// From a contender's turns to one line of the results. Pure.
#ifndef RINGSIDE_WORKER_BENCH_PS_MEASUREMENT_H_
#define RINGSIDE_WORKER_BENCH_PS_MEASUREMENT_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "allreduce_bench_control.pb.h"
#include "ps_bench.pb.h"
#include "worker/bench/ps_bench_config.h"
#include "worker/bench/ps_contenders.h"

namespace ringside {

// Sample i of a turn, in seconds: the mean over the workers of iteration i, plus the mean over the
// shards. Who has no samples takes no part: in an exchange the workers alone measure; of the memory
// ceiling the shards measure the folding and the workers the copying. `answers`: workers first.
std::vector<double> TurnSamples(const PsShape& shape, const std::vector<RankDone>& answers);

// What all rounds of one contender gave. `rounds`: the answers, workers first.
PsMeasurement MeasurePs(const PsContender& contender, const PsShape& shape, int64_t bytes,
                        const std::vector<std::vector<RankDone>>& rounds);

// The fastest of the ceilings of `measurement` in `results`; null: none was measured.
const PsMeasurement* FastestCeiling(const std::vector<PsMeasurement>& results,
                                    const PsMeasurement& measurement);
// Fills in every share of a ceiling from the ceilings among the measurements themselves.
void AddPsCeilingShares(std::vector<PsMeasurement>* measurements);

// What each shard has answered with the numbers "peak_rss_bytes", "arena_bytes" and "parked_bytes";
// excess is never below 0.
std::vector<PsShardMemory> ShardMemoryOf(const PsContender& contender, const PsShape& shape,
                                         int64_t bytes, const std::vector<RankDone>& answers);

// DATA_LOSS: some sum or echo is wrong; names every such contender.
absl::Status CheckPsMeasurements(const std::vector<PsMeasurement>& measurements);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_BENCH_PS_MEASUREMENT_H_
