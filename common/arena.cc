#include "common/arena.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace ringside {

absl::StatusOr<std::unique_ptr<Arena>> Arena::Create(int64_t elements, Placement placement) {
  if (elements < 0)
    return absl::InvalidArgumentError(absl::StrCat("arena of ", elements, " elements"));
  constexpr size_t kHugePage = size_t{2} << 20;
  const size_t bytes = static_cast<size_t>(elements) * sizeof(float);
  const size_t mapped = (bytes / kHugePage + 1) * kHugePage;
  const auto no_memory = [bytes] {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for an arena of ", bytes, " bytes: ", strerror(errno)));
  };
  int memory_fd = -1;
  int flags = MAP_PRIVATE | MAP_ANONYMOUS;
  if (placement == Placement::kShared) {
    memory_fd = memfd_create("ringside-arena", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  }
  if (memory_fd >= 0) {
    // Sealed, because a mapping of a file that shrinks is a trap for whoever reads it.
    if (ftruncate(memory_fd, static_cast<off_t>(mapped)) != 0 ||
        fcntl(memory_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
      const absl::Status error = no_memory();
      close(memory_fd);
      return error;
    }
    flags = MAP_SHARED;
  }
  void* address = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, flags, memory_fd, 0);
  if (address == MAP_FAILED) {
    const absl::Status error = no_memory();
    if (memory_fd >= 0) close(memory_fd);
    return error;
  }
  // Advice only: where the kernel refuses, the arena works, its first touch is slower.
  madvise(address, mapped, MADV_HUGEPAGE);
  std::memset(address, 0, bytes);
  return absl::WrapUnique(new Arena(static_cast<float*>(address), elements, mapped, memory_fd));
}

Arena::~Arena() {
  munmap(data_, mapped_bytes_);
  if (memory_fd_ >= 0) close(memory_fd_);
}

}  // namespace ringside
