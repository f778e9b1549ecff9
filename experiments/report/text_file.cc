#include "experiments/report/text_file.h"

#include <cerrno>
#include <cstdio>

#include "absl/strings/str_cat.h"

namespace ringside {

absl::Status WriteTextFile(const std::string& path, absl::string_view text) {
  const std::string partial = absl::StrCat(path, ".partial");
  std::FILE* file = std::fopen(partial.c_str(), "wbe");
  if (file == nullptr) return absl::ErrnoToStatus(errno, absl::StrCat("writing ", path));
  int error = 0;
  if (std::fwrite(text.data(), 1, text.size(), file) != text.size()) error = errno;
  if (std::fclose(file) != 0 && error == 0) error = errno;
  if (error == 0 && std::rename(partial.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) {
    std::remove(partial.c_str());
    return absl::ErrnoToStatus(error, absl::StrCat("writing ", path));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadTextFile(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rbe");
  if (file == nullptr) return absl::ErrnoToStatus(errno, absl::StrCat("reading ", path));
  std::string text;
  char buffer[65536];
  size_t count = 0;
  while ((count = std::fread(buffer, 1, sizeof(buffer), file)) > 0) text.append(buffer, count);
  const bool failed = std::ferror(file) != 0;
  const int error = errno;
  std::fclose(file);
  if (failed) return absl::ErrnoToStatus(error, absl::StrCat("reading ", path));
  return text;
}

}  // namespace ringside
