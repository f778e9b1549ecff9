// The files that a bench leaves behind.
#ifndef RINGSIDE_ALLREDUCE_BENCH_RESULT_FILES_H_
#define RINGSIDE_ALLREDUCE_BENCH_RESULT_FILES_H_

#include <google/protobuf/message.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace ringside {

// Makes --out, if it is missing. Does nothing for an empty name. PERMISSION_DENIED: it cannot be
// made.
absl::Status MakeResultFolder(const std::string& folder);
// PERMISSION_DENIED: it cannot be written.
absl::Status WriteResultFile(const std::string& path, const std::string& text);
// With every field, by its name in the .proto.
absl::StatusOr<std::string> ResultJson(const google::protobuf::Message& result);

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_BENCH_RESULT_FILES_H_
