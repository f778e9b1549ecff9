#include "common/shared_memory/shared_arenas.h"

#include "common/network/descriptor_passing.h"

namespace ringside {

SharedArenas::SharedArenas(absl::Span<const Arena* const> arenas) {
  for (const Arena* arena : arenas) {
    if (arena == nullptr || arena->placement() != Arena::Placement::kShared) continue;
    if (segments_.size() < kMaxPassedDescriptors) segments_.push_back(arena);
  }
}

absl::optional<SharedArenas::Location> SharedArenas::Locate(absl::Span<const uint8_t> bytes) const {
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

std::vector<int> SharedArenas::Descriptors() const {
  std::vector<int> descriptors;
  for (const Arena* segment : segments_) descriptors.push_back(segment->memory_fd());
  return descriptors;
}

}  // namespace ringside
