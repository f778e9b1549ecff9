#include "worker/bench/ps_bench_output.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "allreduce/bench/result_files.h"
#include "common/status_macros.h"
#include "worker/bench/ps_tables.h"

namespace ringside {

absl::Status PreparePsOutput(const std::string& folder) { return MakeResultFolder(folder); }

absl::Status WritePsResults(const std::string& folder, const PsBenchResult& result) {
  if (folder.empty()) return absl::OkStatus();
  RINGSIDE_ASSIGN_OR_RETURN(const std::string json, ResultJson(result));
  const std::vector<PsMeasurement> rows(result.measurements().begin(), result.measurements().end());
  RINGSIDE_RETURN_IF_ERROR(WriteResultFile(absl::StrCat(folder, "/ps_bench.csv"), PsCsv(rows)));
  return WriteResultFile(absl::StrCat(folder, "/ps_bench.json"), json);
}

}  // namespace ringside
