// Where the results go: standard output and --out.
#ifndef RINGSIDE_ALLREDUCE_BENCH_BENCH_OUTPUT_H_
#define RINGSIDE_ALLREDUCE_BENCH_BENCH_OUTPUT_H_

#include "absl/status/status.h"
#include "allreduce/bench/bench_config.h"
#include "allreduce_bench.pb.h"

namespace ringside {

// Writes DIR/allreduce_bench.csv and .json as far as --format names them; without --out the one
// that it names, to standard output. The table is printed while the bench runs. PERMISSION_DENIED:
// the folder cannot be made or written; names it.
absl::Status WriteResults(const BenchConfig& config, const AllReduceBenchResult& result);

// Makes the folder, so that a run of minutes does not fail at its end. Errors as above.
absl::Status PrepareOutputFolder(const BenchConfig& config);

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_BENCH_BENCH_OUTPUT_H_
