// Folders that the user names for what a run leaves: made, and tried, before anybody is met.
#ifndef RINGSIDE_WORKER_WRITABLE_FOLDER_H_
#define RINGSIDE_WORKER_WRITABLE_FOLDER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace ringside {

// Creates `folder` and those above it where they are missing, and tries whether files can be made
// there; leaves none. INVALID_ARGUMENT: names `flag` with its `value`, and what the system says.
absl::Status RequireWritableFolder(absl::string_view flag, absl::string_view value,
                                   const std::string& folder);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_WRITABLE_FOLDER_H_
