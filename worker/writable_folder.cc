#include "worker/writable_folder.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace ringside {

absl::Status RequireWritableFolder(absl::string_view flag, absl::string_view value,
                                   const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return absl::InvalidArgumentError(
        absl::StrCat("--", flag, "=", value, ": cannot make this folder: ", error.message()));
  }
  const std::string probe = absl::StrCat(folder, "/.probe-", getpid());
  FILE* const file = std::fopen(probe.c_str(), "w");
  if (file == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("--", flag, "=", value, ": cannot write there: ", strerror(errno)));
  }
  std::fclose(file);
  std::remove(probe.c_str());
  return absl::OkStatus();
}

}  // namespace ringside
