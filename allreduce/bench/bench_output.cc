#include "allreduce/bench/bench_output.h"

#include <stdio.h>

#include <google/protobuf/util/json_util.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "allreduce/bench/result_table.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

absl::StatusOr<std::string> Json(const AllReduceBenchResult& result) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(result, &json, options);
  if (!status.ok()) return absl::InternalError(absl::StrCat("no JSON: ", status.ToString()));
  return json;
}

absl::Status Write(const BenchConfig& config, const std::string& suffix, const std::string& text) {
  if (config.out.empty()) {
    fputs(text.c_str(), stdout);
    return absl::OkStatus();
  }
  const std::string path = absl::StrCat(config.out, "/allreduce_bench.", suffix);
  std::ofstream file(path, std::ios::trunc);
  file << text;
  file.close();
  if (file) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat("cannot write ", path));
}

}  // namespace

absl::Status PrepareOutputFolder(const BenchConfig& config) {
  if (config.out.empty()) return absl::OkStatus();
  std::error_code error;
  std::filesystem::create_directories(config.out, error);
  if (!error) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat("--out=", config.out, ": cannot make this folder: ", error.message()));
}

absl::Status WriteResults(const BenchConfig& config, const AllReduceBenchResult& result) {
  if (config.Writes("csv")) {
    const std::vector<AllReduceMeasurement> rows(result.measurements().begin(),
                                                 result.measurements().end());
    RINGSIDE_RETURN_IF_ERROR(Write(config, "csv", Csv(rows)));
  }
  if (config.Writes("json")) {
    RINGSIDE_ASSIGN_OR_RETURN(const std::string json, Json(result));
    RINGSIDE_RETURN_IF_ERROR(Write(config, "json", json));
  }
  return absl::OkStatus();
}

}  // namespace ringside
