#include "worker/data/data_files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

absl::Status Failure(const std::string& path, const std::error_code& error) {
  const std::string message = absl::StrCat(path, ": ", error.message());
  return error == std::errc::no_such_file_or_directory ? absl::NotFoundError(message)
                                                       : absl::InvalidArgumentError(message);
}

absl::StatusOr<std::vector<std::string>> Names(const std::string& folder, bool folders) {
  std::error_code error;
  std::vector<std::string> names;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::error_code ignored;
    const bool fits = folders ? entry->is_directory(ignored) : entry->is_regular_file(ignored);
    if (fits && name[0] != '.') names.push_back(name);
  }
  if (error) return Failure(folder, error);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

absl::StatusOr<std::string> ReadDataFile(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    return absl::NotFoundError(absl::StrCat(path, ": ", strerror(ENOENT)));
  }
  if (error) return Failure(path, error);
  if (status.type() != fs::file_type::regular) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": is not a regular file"));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": cannot be opened: ", strerror(errno)));
  }
  std::string bytes;
  const auto length = fs::file_size(path, error);
  if (!error) bytes.resize(length);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(file.gcount());
  if (file.bad()) return absl::InvalidArgumentError(absl::StrCat(path, ": cannot be read"));
  return bytes;
}

absl::StatusOr<std::vector<std::string>> FolderNames(const std::string& folder) {
  return Names(folder, /*folders=*/true);
}

absl::StatusOr<std::vector<std::string>> FileNames(const std::string& folder) {
  return Names(folder, /*folders=*/false);
}

absl::Status MissingData(const std::string& folder, absl::string_view problem,
                         absl::string_view layout) {
  return absl::NotFoundError(
      absl::StrCat("--data_dir=", folder, ": ", problem, "; it must hold ", layout));
}

}  // namespace ringside
