// Whole files of text.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_TEXT_FILE_H_
#define RINGSIDE_EXPERIMENTS_REPORT_TEXT_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ringside {

// Replaces the file at once: readers see the old text or all of the new one. Errors as
// absl::ErrnoToStatus has them (NOT_FOUND: no such folder, PERMISSION_DENIED, RESOURCE_EXHAUSTED:
// disk full), with the path.
absl::Status WriteTextFile(const std::string& path, absl::string_view text);

absl::StatusOr<std::string> ReadTextFile(const std::string& path);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_TEXT_FILE_H_
