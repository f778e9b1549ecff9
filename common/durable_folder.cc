#include "common/durable_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "common/network/socket.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr absl::string_view kPartialSuffix = ".partial";

// Names of all that lies in `folder`.
std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  return names;
}

std::string FolderOf(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

}  // namespace

absl::StatusOr<int64_t> ReplaceFile(const std::string& path, const FileWriter& write) {
  const std::string partial = absl::StrCat(path, kPartialSuffix);
  absl::StatusOr<int64_t> bytes = write(partial);
  if (bytes.ok() && std::rename(partial.c_str(), path.c_str()) != 0) {
    bytes = absl::ErrnoToStatus(errno, absl::StrCat("renaming ", partial, " to ", path));
  }
  if (!bytes.ok()) {
    unlink(partial.c_str());
    return bytes;
  }
  RINGSIDE_RETURN_IF_ERROR(SyncFolder(FolderOf(path)));
  return bytes;
}

absl::Status SyncFolder(const std::string& folder) {
  const FileDescriptor file(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file.valid() && fsync(file.get()) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, absl::StrCat("bringing the folder ", folder, " to the disk"));
}

absl::StatusOr<DurableFolder> DurableFolder::Create(Config config, bool writable) {
  const std::string path = config.path;
  const auto cannot_use = [&](const std::string& reason) {
    return absl::PermissionDeniedError(
        absl::StrCat(config.flag, "=", path, ": cannot be ", writable ? "written" : "read", " (",
                     reason, "); must be a folder that exists", writable ? " or can be made" : ""));
  };
  std::error_code error;
  if (writable) fs::create_directories(path, error);
  if (error) return cannot_use(error.message());
  if (!fs::is_directory(path, error)) return cannot_use("it is not a folder");
  if (access(path.c_str(), R_OK | X_OK | (writable ? W_OK : 0)) != 0) {
    return cannot_use(strerror(errno));
  }
  DurableFolder folder(std::move(config));
  if (writable) folder.RemovePartialFiles();
  return folder;
}

absl::StatusOr<int64_t> DurableFolder::Save(uint64_t step, const FileWriter& write) const {
  return ReplaceFile(PathOf(step), write);
}

std::vector<uint64_t> DurableFolder::Steps() const {
  std::vector<uint64_t> steps;
  for (const std::string& name : NamesIn(config_.path)) {
    uint64_t step = 0;
    if (ParseName(name, &step)) steps.push_back(step);
  }
  std::sort(steps.begin(), steps.end(), std::greater<uint64_t>());
  return steps;
}

absl::Status DurableFolder::Remove(uint64_t step) const {
  const std::string path = PathOf(step);
  if (unlink(path.c_str()) == 0 || errno == ENOENT) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, absl::StrCat("removing ", path));
}

std::string DurableFolder::PathOf(uint64_t step) const {
  return absl::StrCat(config_.path, "/", NameOf(step));
}

std::string DurableFolder::NameOf(uint64_t step) const {
  return absl::StrFormat("%s%06d%s", config_.prefix, step, config_.suffix);
}

bool DurableFolder::ParseName(absl::string_view name, uint64_t* step) const {
  absl::string_view number = name;
  return absl::ConsumePrefix(&number, config_.prefix) &&
         absl::ConsumeSuffix(&number, config_.suffix) && absl::SimpleAtoi(number, step) &&
         NameOf(*step) == name;
}

void DurableFolder::RemovePartialFiles() const {
  for (const std::string& name : NamesIn(config_.path)) {
    absl::string_view whole = name;
    uint64_t step = 0;
    if (absl::ConsumeSuffix(&whole, kPartialSuffix) && ParseName(whole, &step)) {
      unlink(absl::StrCat(config_.path, "/", name).c_str());
    }
  }
}

}  // namespace ringside
