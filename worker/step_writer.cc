#include "worker/step_writer.h"

#include <google/protobuf/descriptor.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
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

absl::StatusOr<std::unique_ptr<StepWriter>> StepWriter::Create(const std::string& out, int rank) {
  const std::string path = absl::StrCat(StepsFolder(out), "/worker-", rank, ".jsonl");
  FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("--out=", out, ": cannot write ", path, ": ", strerror(errno)));
  }
  return absl::WrapUnique(new StepWriter(path, file));
}

absl::Status StepWriter::Append(const StepRecord& record) {
  const std::string line = ToJsonLine(record);
  if (std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size()) {
    return absl::DataLossError(absl::StrCat("cannot write ", path_, ": ", strerror(errno)));
  }
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
