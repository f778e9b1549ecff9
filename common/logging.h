// Process-wide logging to standard error, by spdlog: "12:00:01.123 worker 2: message".
#ifndef RINGSIDE_COMMON_LOGGING_H_
#define RINGSIDE_COMMON_LOGGING_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace ringside {

// Names this process in every line, e.g. "worker 2". Thread-safe, but meant for the start of main.
void SetLogName(absl::string_view name);

void LogInfo(absl::string_view message);
void LogWarning(absl::string_view message);
void LogError(absl::string_view message);

// Logs a failed status as one line and returns the exit status that goes with it: 2 for bad input
// (INVALID_ARGUMENT, NOT_FOUND, FAILED_PRECONDITION, ALREADY_EXISTS, OUT_OF_RANGE,
// PERMISSION_DENIED, UNIMPLEMENTED), else 1. 0 for OK.
int ExitStatus(const absl::Status& status);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_LOGGING_H_
