#include "experiments/sweep/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

#include "absl/strings/str_cat.h"

namespace ringside {

absl::StatusOr<FolderLock> FolderLock::Acquire(const std::string& folder) {
  FileDescriptor file(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!file.valid()) return absl::ErrnoToStatus(errno, absl::StrCat("--out=", folder));
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return absl::FailedPreconditionError(
        absl::StrCat("--out=", folder, ": another `ringside sweep` is at work there"));
  }
  return FolderLock(std::move(file));
}

}  // namespace ringside
