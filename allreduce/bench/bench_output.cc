#include "allreduce/bench/bench_output.h"

#include <stdio.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "allreduce/bench/result_files.h"
#include "allreduce/bench/result_table.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

absl::Status Write(const BenchConfig& config, const std::string& suffix, const std::string& text) {
  if (config.out.empty()) {
    fputs(text.c_str(), stdout);
    return absl::OkStatus();
  }
  return WriteResultFile(absl::StrCat(config.out, "/allreduce_bench.", suffix), text);
}

}  // namespace

absl::Status PrepareOutputFolder(const BenchConfig& config) { return MakeResultFolder(config.out); }

absl::Status WriteResults(const BenchConfig& config, const AllReduceBenchResult& result) {
  if (config.Writes("csv")) {
    const std::vector<AllReduceMeasurement> rows(result.measurements().begin(),
                                                 result.measurements().end());
    RINGSIDE_RETURN_IF_ERROR(Write(config, "csv", Csv(rows)));
  }
  if (config.Writes("json")) {
    RINGSIDE_ASSIGN_OR_RETURN(const std::string json, ResultJson(result));
    RINGSIDE_RETURN_IF_ERROR(Write(config, "json", json));
  }
  return absl::OkStatus();
}

}  // namespace ringside
