#include "allreduce/shm/own_memory.h"

#include <utility>

#include "absl/memory/memory.h"
#include "common/network/descriptor_passing.h"
#include "common/status_macros.h"

namespace ringside {

absl::StatusOr<std::unique_ptr<OwnMemory>> OwnMemory::Create(
    int64_t control_bytes, int64_t staging_bytes, const std::vector<const Arena*>& arenas) {
  constexpr int64_t kPage = 4096;
  control_bytes = (control_bytes + kPage - 1) / kPage * kPage;
  RINGSIDE_ASSIGN_OR_RETURN(
      std::unique_ptr<Arena> own,
      Arena::Create((control_bytes + staging_bytes) / static_cast<int64_t>(sizeof(float)),
                    Arena::Placement::kShared));
  if (own->placement() != Arena::Placement::kShared) {
    return absl::ResourceExhaustedError("the system gives out no memory files");
  }
  std::vector<const Arena*> segments = {own.get()};
  for (const Arena* arena : arenas) {
    // What does not fit into one message is copied on the way, as memory of no arena is.
    if (arena->placement() == Arena::Placement::kShared && segments.size() < kMaxPassedDescriptors)
      segments.push_back(arena);
  }
  return absl::WrapUnique(new OwnMemory(std::move(own), std::move(segments),
                                        static_cast<size_t>(control_bytes),
                                        static_cast<size_t>(staging_bytes)));
}

OwnMemory::OwnMemory(std::unique_ptr<Arena> own, std::vector<const Arena*> segments,
                     size_t control_bytes, size_t staging_bytes)
    : own_(std::move(own)),
      segments_(std::move(segments)),
      control_bytes_(control_bytes),
      staging_bytes_(staging_bytes),
      data_(reinterpret_cast<uint8_t*>(own_->span().data())) {}

absl::optional<OwnMemory::Location> OwnMemory::Locate(absl::Span<const uint8_t> bytes) const {
  for (size_t number = 0; number < segments_.size(); ++number) {
    const absl::Span<const float> floats = segments_[number]->span();
    const auto* const begin = reinterpret_cast<const uint8_t*>(floats.data());
    const auto* const end = begin + floats.size() * sizeof(float);
    if (bytes.data() >= begin && bytes.data() + bytes.size() <= end) {
      return Location{static_cast<uint32_t>(number), static_cast<uint64_t>(bytes.data() - begin)};
    }
  }
  return absl::nullopt;
}

std::vector<int> OwnMemory::Descriptors() const {
  std::vector<int> descriptors;
  for (const Arena* segment : segments_) descriptors.push_back(segment->memory_fd());
  return descriptors;
}

}  // namespace ringside
