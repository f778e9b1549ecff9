// Allocator settings for a process that moves gradients.
#ifndef RINGSIDE_COMMON_PROCESS_MEMORY_H_
#define RINGSIDE_COMMON_PROCESS_MEMORY_H_

#include <malloc.h>

#include "absl/strings/string_view.h"

namespace ringside {

// Memory is never given back to the kernel, because every page that comes back costs a fault of
// some 12 us; gRPC streams run about six times faster for it (docs/rationale.md). Call it before
// there are threads and buffers: once flags are read is soon enough, because all that was allocated
// by then is small and comes from the first heap, to which the settings apply as well.
inline void KeepFreedMemory() {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, 2'000'000'000);
  mallopt(M_TOP_PAD, 64 << 20);
  mallopt(M_ARENA_MAX, 1);
}

// Does what --malloc says: "tuned" or "stock".
inline void SetUpAllocator(absl::string_view setting) {
  if (setting == "tuned") KeepFreedMemory();
}

}  // namespace ringside

#endif  // RINGSIDE_COMMON_PROCESS_MEMORY_H_
