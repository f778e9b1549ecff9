// The memory that a rank shares with its neighbours: the mailbox that others write to, buffers for
// payload that lies elsewhere, and the arenas whose payload is read where it is.
#ifndef RINGSIDE_COMMON_SHARED_MEMORY_OWN_MEMORY_H_
#define RINGSIDE_COMMON_SHARED_MEMORY_OWN_MEMORY_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "common/arena.h"
#include "common/shared_memory/shared_arenas.h"

namespace ringside {

// Segment 0 is the control segment: `control_bytes` for what peers agree on (zeroed), then
// `staging_bytes`. The others are the shared ones of `arenas`, which are borrowed. Thread-safe,
// since immutable.
class OwnMemory {
 public:
  using Location = SharedArenas::Location;

  // RESOURCE_EXHAUSTED: no memory for the control segment.
  static absl::StatusOr<std::unique_ptr<OwnMemory>> Create(int64_t control_bytes,
                                                           int64_t staging_bytes,
                                                           const std::vector<const Arena*>& arenas);

  uint8_t* control() const { return data_; }
  absl::Span<uint8_t> staging() const { return {data_ + control_bytes_, staging_bytes_}; }
  // Where others find these bytes; nothing where they lie in no segment.
  absl::optional<Location> Locate(absl::Span<const uint8_t> bytes) const {
    return segments_.Locate(bytes);
  }

  // In the order of the segments; they stay this object's. The control segment alone, or all.
  std::vector<int> ControlDescriptor() const { return {own_->memory_fd()}; }
  std::vector<int> Descriptors() const { return segments_.Descriptors(); }

 private:
  OwnMemory(std::unique_ptr<Arena> own, const std::vector<const Arena*>& segments,
            size_t control_bytes, size_t staging_bytes);

  const std::unique_ptr<Arena> own_;
  const SharedArenas segments_;  // own_ first
  const size_t control_bytes_;
  const size_t staging_bytes_;
  uint8_t* const data_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_SHARED_MEMORY_OWN_MEMORY_H_
