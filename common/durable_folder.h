// A folder of files that are numbered by step and that are there whole or not at all, whenever the
// process or the machine fails: each is written under another name and renamed when it is on the
// disk. Others may keep their files in the same folder.
//
// Thread-compatible; blocks on the disk. One process writes files of one prefix.
#ifndef RINGSIDE_COMMON_DURABLE_FOLDER_H_
#define RINGSIDE_COMMON_DURABLE_FOLDER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ringside {

// Writes a file under the name that it is given and returns when it is on the disk, with its size
// in bytes.
using FileWriter = std::function<absl::StatusOr<int64_t>(const std::string& path)>;

// Makes or replaces `path` by what `write` writes under another name, "<path>.partial", which is
// removed on an error. Returns when the renaming is on the disk too. Errors are those of `write`
// and those of the system, with the code of its errno.
absl::StatusOr<int64_t> ReplaceFile(const std::string& path, const FileWriter& write);

// Brings the names in `folder` to the disk: without this a rename may be lost with the machine.
absl::Status SyncFolder(const std::string& folder);

class DurableFolder {
 public:
  // Files are called <prefix><step, of six digits or more><suffix>.
  struct Config {
    std::string flag;  // that has named the folder, for messages: "--snapshot_dir"
    std::string path;  // made if missing
    std::string prefix;
    std::string suffix;
  };

  // Makes the folder. PERMISSION_DENIED: it cannot be made or read, nor written to where
  // `writable`. An interrupted Save may have left something in a writable one: that is removed.
  static absl::StatusOr<DurableFolder> Create(Config config, bool writable);

  // Errors are those of ReplaceFile; then all files are as they were.
  absl::StatusOr<int64_t> Save(uint64_t step, const FileWriter& write) const;

  // Steps of all files of such a name, the newest first. Nobody has looked into them. Empty if the
  // folder cannot be read.
  std::vector<uint64_t> Steps() const;

  // OK where there is none.
  absl::Status Remove(uint64_t step) const;
  absl::Status Sync() const { return SyncFolder(config_.path); }

  std::string PathOf(uint64_t step) const;
  // Whether `name`, without a folder, is one that PathOf gives, and for which step.
  bool ParseName(absl::string_view name, uint64_t* step) const;
  const std::string& path() const { return config_.path; }

 private:
  explicit DurableFolder(Config config) : config_(std::move(config)) {}

  std::string NameOf(uint64_t step) const;
  void RemovePartialFiles() const;

  Config config_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_DURABLE_FOLDER_H_
