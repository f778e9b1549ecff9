#include "ps_server/snapshot_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "common/logging.h"
#include "common/network/socket.h"
#include "common/status_macros.h"
#include "ps_server/snapshot_file.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr absl::string_view kSuffix = ".snap";
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

absl::Status CannotUse(const std::string& folder, const std::string& reason) {
  return absl::PermissionDeniedError(
      absl::StrCat("--snapshot_dir=", folder, ": cannot be written (", reason,
                   "); must be a folder that exists or can be made"));
}

}  // namespace

absl::StatusOr<SnapshotStore> SnapshotStore::Create(Config config) {
  const std::string& folder = config.folder;
  if (folder.empty()) {
    return absl::InvalidArgumentError(
        "--snapshot_dir is missing: shard snapshots, which --snapshot_steps asks for, need a "
        "folder; give it, or --out");
  }
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return CannotUse(folder, error.message());
  if (!fs::is_directory(folder, error)) return CannotUse(folder, "it is not a folder");
  if (access(folder.c_str(), R_OK | W_OK | X_OK) != 0) return CannotUse(folder, strerror(errno));
  SnapshotStore store(std::move(config));
  store.RemovePartialFiles();
  return store;
}

absl::StatusOr<int64_t> SnapshotStore::Save(const SnapshotView& snapshot) {
  const std::string path = PathOf(snapshot.step);
  const std::string partial = absl::StrCat(path, kPartialSuffix);
  absl::StatusOr<int64_t> bytes = WriteSnapshotFile(partial, config_.identity, snapshot);
  if (bytes.ok() && std::rename(partial.c_str(), path.c_str()) != 0) {
    bytes = absl::ErrnoToStatus(errno, absl::StrCat("renaming ", partial, " to ", path));
  }
  if (!bytes.ok()) {
    unlink(partial.c_str());
    return bytes;
  }
  RINGSIDE_RETURN_IF_ERROR(SyncFolder());
  bool kept_an_earlier_one = false;
  for (uint64_t step : List()) {
    if (step == snapshot.step) continue;
    if (step < snapshot.step && !std::exchange(kept_an_earlier_one, true)) continue;
    // The snapshot itself is safe; what cannot be removed only takes room.
    const absl::Status removed = Remove(step);
    if (!removed.ok()) LogWarning(removed.message());
  }
  return bytes;
}

std::vector<uint64_t> SnapshotStore::List() const {
  std::vector<uint64_t> steps;
  for (const std::string& name : NamesIn(config_.folder)) {
    uint64_t step = 0;
    if (!ParseName(name, &step)) continue;
    const absl::StatusOr<uint64_t> found = CheckSnapshotFile(PathOf(step), config_.identity);
    if (found.ok() && *found == step) steps.push_back(step);
  }
  std::sort(steps.begin(), steps.end(), std::greater<uint64_t>());
  return steps;
}

absl::StatusOr<ShardSnapshot> SnapshotStore::Load(uint64_t step) const {
  const std::string path = PathOf(step);
  RINGSIDE_ASSIGN_OR_RETURN(ShardSnapshot snapshot, ReadSnapshotFile(path, config_.identity));
  if (snapshot.step == step) return snapshot;
  return absl::DataLossError(
      absl::StrCat(path, ": of step ", snapshot.step, ", which is not what its name says"));
}

absl::Status SnapshotStore::RemoveAfter(uint64_t step) {
  for (uint64_t later : List()) {
    if (later > step) RINGSIDE_RETURN_IF_ERROR(Remove(later));
  }
  return SyncFolder();
}

std::string SnapshotStore::PathOf(uint64_t step) const {
  return absl::StrCat(config_.folder, "/", NameOf(step));
}

std::string SnapshotStore::NameOf(uint64_t step) const {
  return absl::StrFormat("shard-%d-step-%06d%s", config_.identity.shard, step, kSuffix);
}

bool SnapshotStore::ParseName(absl::string_view name, uint64_t* step) const {
  absl::string_view number = name;
  return absl::ConsumePrefix(&number, absl::StrCat("shard-", config_.identity.shard, "-step-")) &&
         absl::ConsumeSuffix(&number, kSuffix) && absl::SimpleAtoi(number, step) &&
         NameOf(*step) == name;
}

absl::Status SnapshotStore::Remove(uint64_t step) const {
  const std::string path = PathOf(step);
  if (unlink(path.c_str()) == 0 || errno == ENOENT) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, absl::StrCat("removing ", path));
}

void SnapshotStore::RemovePartialFiles() const {
  for (const std::string& name : NamesIn(config_.folder)) {
    absl::string_view snapshot = name;
    uint64_t step = 0;
    if (absl::ConsumeSuffix(&snapshot, kPartialSuffix) && ParseName(snapshot, &step)) {
      unlink(absl::StrCat(config_.folder, "/", name).c_str());
    }
  }
}

// Without this a rename may be lost with the machine.
absl::Status SnapshotStore::SyncFolder() const {
  const FileDescriptor folder(open(config_.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.valid() && fsync(folder.get()) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno,
                             absl::StrCat("bringing the folder ", config_.folder, " to the disk"));
}

}  // namespace ringside
