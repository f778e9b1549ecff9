#include "worker/bench/ps_bench_output.h"

#include <google/protobuf/util/json_util.h>

#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "worker/bench/ps_tables.h"

namespace ringside {
namespace {

absl::Status Write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::trunc);
  file << text;
  file.close();
  if (file) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat("cannot write ", path));
}

}  // namespace

absl::Status PreparePsOutput(const std::string& folder) {
  if (folder.empty()) return absl::OkStatus();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat("--out=", folder, ": cannot make this folder: ", error.message()));
}

absl::Status WritePsResults(const std::string& folder, const PsBenchResult& result) {
  if (folder.empty()) return absl::OkStatus();
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(result, &json, options);
  if (!status.ok()) return absl::InternalError(absl::StrCat("no JSON: ", status.ToString()));
  const std::vector<PsMeasurement> rows(result.measurements().begin(), result.measurements().end());
  RINGSIDE_RETURN_IF_ERROR(Write(absl::StrCat(folder, "/ps_bench.csv"), PsCsv(rows)));
  return Write(absl::StrCat(folder, "/ps_bench.json"), json);
}

}  // namespace ringside
