#include "common/arena.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace ringside {

absl::StatusOr<std::unique_ptr<Arena>> Arena::Create(int64_t elements, Placement /*placement*/) {
  if (elements < 0)
    return absl::InvalidArgumentError(absl::StrCat("arena of ", elements, " elements"));
  constexpr size_t kHugePage = size_t{2} << 20;
  const size_t bytes = static_cast<size_t>(elements) * sizeof(float);
  const size_t mapped = (bytes / kHugePage + 1) * kHugePage;
  void* address = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for an arena of ", bytes, " bytes: ", strerror(errno)));
  }
  // Advice only: where the kernel refuses, the arena works, its first touch is slower.
  madvise(address, mapped, MADV_HUGEPAGE);
  std::memset(address, 0, bytes);
  return absl::WrapUnique(new Arena(static_cast<float*>(address), elements, mapped));
}

Arena::~Arena() { munmap(data_, mapped_bytes_); }

}  // namespace ringside
