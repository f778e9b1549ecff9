// Keeps a second process from writing into the same folder.
#ifndef RINGSIDE_EXPERIMENTS_SWEEP_FOLDER_LOCK_H_
#define RINGSIDE_EXPERIMENTS_SWEEP_FOLDER_LOCK_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "common/network/socket.h"

namespace ringside {

// Held until it is destroyed or the process ends, however it ends. Children do not inherit it. On a
// file system without locks it holds nothing.
class FolderLock {
 public:
  // NOT_FOUND, PERMISSION_DENIED: the folder cannot be opened. FAILED_PRECONDITION: another process
  // has it.
  static absl::StatusOr<FolderLock> Acquire(const std::string& folder);

 private:
  explicit FolderLock(FileDescriptor file) : file_(std::move(file)) {}
  FileDescriptor file_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SWEEP_FOLDER_LOCK_H_
