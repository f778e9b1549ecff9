// Files and folders of a data set. Stateless, so safe from any thread.
#ifndef RINGSIDE_WORKER_DATA_DATA_FILES_H_
#define RINGSIDE_WORKER_DATA_DATA_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ringside {

// All bytes of a regular file. NOT_FOUND: there is none. INVALID_ARGUMENT: it cannot be read. Both
// name the path.
absl::StatusOr<std::string> ReadDataFile(const std::string& path);

// Names of the folders, or of the regular files, that stand right in `folder`, sorted by bytes, so
// that all ranks see them in one order. What begins with a dot is left out. Errors as above.
absl::StatusOr<std::vector<std::string>> FolderNames(const std::string& folder);
absl::StatusOr<std::vector<std::string>> FileNames(const std::string& folder);

// NOT_FOUND: "--data_dir=<folder>: <problem>; it must hold <layout>".
absl::Status MissingData(const std::string& folder, absl::string_view problem,
                         absl::string_view layout);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_DATA_DATA_FILES_H_
