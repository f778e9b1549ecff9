// Memory of another process of this host, mapped into this one. The files behind it have no name
// and travel over the Unix socket between the two, so nothing is left behind when they end.
#ifndef RINGSIDE_COMMON_SHARED_MEMORY_PEER_MEMORY_H_
#define RINGSIDE_COMMON_SHARED_MEMORY_PEER_MEMORY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "common/network/socket.h"

namespace ringside {

// Owns the mappings. Thread-compatible; what is in them is shared with the peer.
class PeerMemory {
 public:
  // kRead: a stray write of this process ends it instead of spoiling its peer's memory.
  enum class Access { kRead, kReadWrite };

  // UNAVAILABLE: a segment cannot be mapped, or its owner could still shrink it under us.
  static absl::StatusOr<std::unique_ptr<PeerMemory>> Map(const std::vector<FileDescriptor>& files,
                                                         Access access = Access::kReadWrite);
  ~PeerMemory();
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;

  int num_segments() const { return static_cast<int>(segments_.size()); }
  absl::Span<uint8_t> segment(int number) const { return segments_[number]; }
  // Null where [offset, offset + bytes) does not lie in that segment: peers are not trusted.
  uint8_t* Find(uint32_t segment, uint64_t offset, uint64_t bytes) const;

 private:
  PeerMemory() = default;
  std::vector<absl::Span<uint8_t>> segments_;
};

// How two processes agree to share memory: each offers its segments, takes the other's, and tells
// whether it could map them. In three steps, so that a rank can take each with all of its peers
// before the next and nobody waits in a circle.
class MemoryExchange {
 public:
  explicit MemoryExchange(Socket* socket,
                          PeerMemory::Access access = PeerMemory::Access::kReadWrite)
      : socket_(socket), access_(access) {}

  // The errors of all three are those of the connection (UNAVAILABLE, DEADLINE_EXCEEDED,
  // INVALID_ARGUMENT). Descriptors stay the caller's.
  absl::Status Offer(absl::Span<const int> own, absl::Time deadline);
  absl::Status Take(absl::Time deadline);
  absl::Status Settle(absl::Time deadline);

  // After Settle: null where one of the two could not map, and `why` says which and why.
  std::unique_ptr<PeerMemory> memory() { return std::move(memory_); }
  const std::string& why() const { return why_; }

 private:
  Socket* const socket_;
  const PeerMemory::Access access_;
  std::unique_ptr<PeerMemory> memory_;
  std::string why_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_SHARED_MEMORY_PEER_MEMORY_H_
