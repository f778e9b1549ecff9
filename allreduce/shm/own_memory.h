// The memory that a rank shares with its neighbours: the mailbox that others write to, buffers for
// payload that lies elsewhere, and the arenas whose payload is read where it is.
#ifndef RINGSIDE_ALLREDUCE_SHM_OWN_MEMORY_H_
#define RINGSIDE_ALLREDUCE_SHM_OWN_MEMORY_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "common/arena.h"

namespace ringside {

// Segment 0 is the control segment: `control_bytes` for what peers agree on (zeroed), then
// `staging_bytes`. The others are the shared ones of `arenas`, which are borrowed. Thread-safe,
// since immutable.
class OwnMemory {
 public:
  struct Location {
    uint32_t segment = 0;
    uint64_t offset = 0;  // bytes
  };

  // RESOURCE_EXHAUSTED: no memory for the control segment.
  static absl::StatusOr<std::unique_ptr<OwnMemory>> Create(int64_t control_bytes,
                                                           int64_t staging_bytes,
                                                           const std::vector<const Arena*>& arenas);

  uint8_t* control() const { return data_; }
  absl::Span<uint8_t> staging() const { return {data_ + control_bytes_, staging_bytes_}; }
  // Where others find these bytes; nothing where they lie in no segment.
  absl::optional<Location> Locate(absl::Span<const uint8_t> bytes) const;

  // In the order of the segments; they stay this object's. The control segment alone, or all.
  std::vector<int> ControlDescriptor() const { return {segments_[0]->memory_fd()}; }
  std::vector<int> Descriptors() const;

 private:
  OwnMemory(std::unique_ptr<Arena> own, std::vector<const Arena*> segments, size_t control_bytes,
            size_t staging_bytes);

  const std::unique_ptr<Arena> own_;
  const std::vector<const Arena*> segments_;  // own_ first
  const size_t control_bytes_;
  const size_t staging_bytes_;
  uint8_t* const data_;
};

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_SHM_OWN_MEMORY_H_
