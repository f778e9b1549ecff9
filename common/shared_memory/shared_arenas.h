// The arenas of this process whose payload other processes read where it lies: their segments, in
// the order in which the files behind them are passed (peer_memory.h).
#ifndef RINGSIDE_COMMON_SHARED_MEMORY_SHARED_ARENAS_H_
#define RINGSIDE_COMMON_SHARED_MEMORY_SHARED_ARENAS_H_

#include <cstdint>
#include <vector>

#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "common/arena.h"

namespace ringside {

// Thread-safe, since immutable. The arenas are borrowed.
class SharedArenas {
 public:
  struct Location {
    uint32_t segment = 0;
    uint64_t offset = 0;  // bytes
  };

  SharedArenas() = default;
  // Takes the shared ones of `arenas`, as many as one message can pass; null ones count as not
  // shared. What lies in the others has no location, as memory of no arena has none.
  explicit SharedArenas(absl::Span<const Arena* const> arenas);

  int size() const { return static_cast<int>(segments_.size()); }
  bool empty() const { return segments_.empty(); }
  // Where others find these bytes; nothing where they lie in no segment.
  absl::optional<Location> Locate(absl::Span<const uint8_t> bytes) const;
  // In the order of the segments; they stay the arenas'.
  std::vector<int> Descriptors() const;

 private:
  std::vector<const Arena*> segments_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_SHARED_MEMORY_SHARED_ARENAS_H_
