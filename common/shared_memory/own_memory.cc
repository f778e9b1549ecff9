#include "common/shared_memory/own_memory.h"

#include <utility>

#include "absl/memory/memory.h"
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
  segments.insert(segments.end(), arenas.begin(), arenas.end());
  return absl::WrapUnique(new OwnMemory(std::move(own), segments,
                                        static_cast<size_t>(control_bytes),
                                        static_cast<size_t>(staging_bytes)));
}

OwnMemory::OwnMemory(std::unique_ptr<Arena> own, const std::vector<const Arena*>& segments,
                     size_t control_bytes, size_t staging_bytes)
    : own_(std::move(own)),
      segments_(segments),
      control_bytes_(control_bytes),
      staging_bytes_(staging_bytes),
      data_(reinterpret_cast<uint8_t*>(own_->span().data())) {}

}  // namespace ringside
