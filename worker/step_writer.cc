#include "worker/step_writer.h"

#include <google/protobuf/descriptor.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "common/check.h"
#include "common/status_macros.h"
#include "worker/writable_folder.h"

namespace ringside {
namespace {

constexpr double kFlushEvery = 1.0;  // seconds of training

std::string StepsFolder(const std::string& out) { return absl::StrCat(out, "/steps"); }

std::string Number(double value) {
  if (std::isnan(value)) return "\"NaN\"";
  if (std::isinf(value)) return value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  return absl::StrFormat("%.9g", value);
}

// The whole lines of `path` whose step is at most `step`; none where there is no such file. A line
// that was torn, or that something else has written, is left out.
std::string RecordsUpTo(int64_t step, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string kept;
  for (std::string line; std::getline(file, line) && !file.eof();) {
    absl::string_view rest = line;
    int64_t number = 0;
    if (absl::ConsumePrefix(&rest, "{\"step\":") && absl::EndsWith(rest, "}") &&
        absl::SimpleAtoi(rest.substr(0, rest.find(',')), &number) && number <= step) {
      absl::StrAppend(&kept, line, "\n");
    }
  }
  return kept;
}

}  // namespace

absl::Status PrepareOutputFolder(const std::string& out) {
  RINGSIDE_RETURN_IF_ERROR(RequireWritableFolder("out", out, out));
  return RequireWritableFolder("out", out, StepsFolder(out));
}

std::string ToJsonLine(const StepRecord& record) {
  using google::protobuf::FieldDescriptor;
  const auto* descriptor = record.GetDescriptor();
  const auto* reflection = record.GetReflection();
  std::string line;
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const FieldDescriptor* field = descriptor->field(i);
    if (field->has_presence() && !reflection->HasField(record, field)) continue;
    absl::StrAppend(&line, line.empty() ? "{\"" : ",\"", field->name(), "\":");
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT64:
        absl::StrAppend(&line, reflection->GetInt64(record, field));
        break;
      case FieldDescriptor::CPPTYPE_DOUBLE:
        absl::StrAppend(&line, Number(reflection->GetDouble(record, field)));
        break;
      default:
        RINGSIDE_CHECK(false && "StepRecord has int64 and double fields only");
    }
  }
  return line + "}\n";
}

absl::StatusOr<std::unique_ptr<StepWriter>> StepWriter::Create(const std::string& out, int rank,
                                                               int64_t resumed_step) {
  const std::string path = absl::StrCat(StepsFolder(out), "/worker-", rank, ".jsonl");
  const std::string kept = resumed_step > 0 ? RecordsUpTo(resumed_step, path) : "";
  FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("--out=", out, ": cannot write ", path, ": ", strerror(errno)));
  }
  auto writer = absl::WrapUnique(new StepWriter(path, file));
  RINGSIDE_RETURN_IF_ERROR(writer->Write(kept));
  RINGSIDE_RETURN_IF_ERROR(writer->Flush());
  return writer;
}

absl::Status StepWriter::Write(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size()) {
    return absl::OkStatus();
  }
  return absl::DataLossError(absl::StrCat("cannot write ", path_, ": ", strerror(errno)));
}

absl::Status StepWriter::Append(const StepRecord& record) {
  RINGSIDE_RETURN_IF_ERROR(Write(ToJsonLine(record)));
  unflushed_s_ += record.step_s();
  return unflushed_s_ < kFlushEvery ? absl::OkStatus() : Flush();
}

absl::Status StepWriter::Flush() {
  unflushed_s_ = 0;
  if (std::fflush(file_.get()) != 0) {
    return absl::DataLossError(absl::StrCat("cannot write ", path_, ": ", strerror(errno)));
  }
  return absl::OkStatus();
}

absl::Status StepWriter::Close() {
  RINGSIDE_RETURN_IF_ERROR(Flush());
  if (std::fclose(file_.release()) != 0) {
    return absl::DataLossError(absl::StrCat("cannot write ", path_, ": ", strerror(errno)));
  }
  return absl::OkStatus();
}

}  // namespace ringside
