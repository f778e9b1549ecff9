// One flat float buffer, allocated once. Parameters, gradients and sums each have one.
//
// A first touch of a 4 KiB page costs about 12 us on virtual machines, so an arena is huge-page
// advised and touched (zeroed) when it is made: nothing on the step path may allocate or fault.
// Thread-compatible; the buffer never moves.
#ifndef RINGSIDE_COMMON_ARENA_H_
#define RINGSIDE_COMMON_ARENA_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace ringside {

class Arena {
 public:
  // Where the buffer lives. The synchronizer asks for a placement before the model's views are
  // made. kShared: a memfd without a name, which processes of this host can map once they are given
  // its descriptor; gone with the last of them. Where the system refuses memfds, the arena is a
  // heap one, as placement() tells. Its pages are of 4 KiB where the kernel gives no huge ones to
  // shared memory, so it takes longer to make.
  enum class Placement { kHeap, kShared };

  // INVALID_ARGUMENT: elements < 0. RESOURCE_EXHAUSTED: the kernel has no memory for it.
  static absl::StatusOr<std::unique_ptr<Arena>> Create(int64_t elements, Placement placement);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  Placement placement() const { return memory_fd_ < 0 ? Placement::kHeap : Placement::kShared; }
  // Of a shared arena, for others to map; the arena keeps it. -1: heap.
  int memory_fd() const { return memory_fd_; }
  size_t mapped_bytes() const { return mapped_bytes_; }

  absl::Span<float> span() { return {data_, elements_}; }
  absl::Span<const float> span() const { return {data_, elements_}; }

 private:
  Arena(float* data, size_t elements, size_t mapped_bytes, int memory_fd)
      : data_(data), elements_(elements), mapped_bytes_(mapped_bytes), memory_fd_(memory_fd) {}

  float* const data_;
  const size_t elements_;
  const size_t mapped_bytes_;
  const int memory_fd_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_ARENA_H_
