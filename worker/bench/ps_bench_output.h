// The files of --out.
#ifndef RINGSIDE_WORKER_BENCH_PS_BENCH_OUTPUT_H_
#define RINGSIDE_WORKER_BENCH_PS_BENCH_OUTPUT_H_

#include <string>

#include "absl/status/status.h"
#include "ps_bench.pb.h"

namespace ringside {

// Makes the folder, so that a run of minutes does not fail at its end; nothing for "".
// PERMISSION_DENIED: it cannot be made; names it.
absl::Status PreparePsOutput(const std::string& folder);

// Writes FOLDER/ps_bench.csv and .json; nothing for "". PERMISSION_DENIED: as above.
absl::Status WritePsResults(const std::string& folder, const PsBenchResult& result);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_BENCH_PS_BENCH_OUTPUT_H_
