// The one header that precedes every payload of gradients or sums, on sockets and in gRPC messages
// alike.
//
// 64 bytes, little-endian; proto/README.md has the table. EncodeFrameHeader and DecodeFrameHeader
// are the only readers and writers of it. Pure functions, safe from any thread.
#ifndef RINGSIDE_COMMON_FRAME_CODEC_H_
#define RINGSIDE_COMMON_FRAME_CODEC_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace ringside {

enum class FrameKind : uint8_t {
  kPush = 1,           // worker to shard: a gradient
  kResult = 2,         // shard to worker: a finished sum
  kReduceScatter = 3,  // ring, first phase: a partial sum
  kAllGather = 4,      // ring, second phase: a finished sum
  kPull = 5,           // worker to shard: send all that is of this step or a later one; no payload
  kRestore = 6,        // worker to shard: a sum that the shard has lost
  kFinish = 7,  // worker to shard: no more steps; back, once every worker said so. No payload
};

// How gradients and sums travel; they are added as float32 always (common/half_precision.h).
enum class WireDtype : uint8_t { kFloat32 = 0, kBFloat16 = 1, kFloat16 = 2 };

constexpr int64_t BytesPerElement(WireDtype dtype) { return dtype == WireDtype::kFloat32 ? 4 : 2; }

// "fp32", "bf16" or "fp16". INVALID_ARGUMENT otherwise.
absl::StatusOr<WireDtype> ParseWireDtype(absl::string_view name);

constexpr size_t kFrameHeaderBytes = 64;
constexpr int64_t kMaxFramePayloadBytes = int64_t{1} << 20;

struct FrameHeader {
  FrameKind kind = FrameKind::kPush;
  WireDtype dtype = WireDtype::kFloat32;
  bool finite = true;  // false: the sender saw a NaN or an infinity in its bucket
  uint32_t group = 0;
  uint32_t generation = 0;
  uint64_t step = 0;  // 0 carries the initial parameters
  uint32_t bucket = 0;
  uint32_t sender = 0;  // rank of a worker, number of a shard
  uint64_t offset = 0;  // elements from the start of the bucket
  uint32_t elements = 0;
  uint64_t weight = 0;  // samples behind the gradient
  // Where in the sender's shared memory the payload lies, as LocationOf makes it; 0: it follows the
  // header.
  uint64_t location = 0;

  int64_t payload_bytes() const { return static_cast<int64_t>(elements) * BytesPerElement(dtype); }
  friend bool operator==(const FrameHeader& a, const FrameHeader& b);
};

// A segment of the memory that the sender shares (common/shared_memory) and bytes from its start,
// in one word: the segment's number + 1 in the top byte, the offset in the others. REQUIRES:
// segment < 255 and offset < 2^56.
constexpr int kLocationOffsetBits = 56;
constexpr uint64_t LocationOf(uint32_t segment, uint64_t offset) {
  return (uint64_t{segment} + 1) << kLocationOffsetBits | offset;
}
// REQUIRES for both: location is not 0. A location without a segment gives a number that none has.
constexpr uint32_t SegmentOf(uint64_t location) {
  return static_cast<uint32_t>(location >> kLocationOffsetBits) - 1;
}
constexpr uint64_t OffsetOf(uint64_t location) {
  return location & ((uint64_t{1} << kLocationOffsetBits) - 1);
}

using EncodedFrameHeader = std::array<uint8_t, kFrameHeaderBytes>;

EncodedFrameHeader EncodeFrameHeader(const FrameHeader& header);

// INVALID_ARGUMENT, naming what is wrong: not 64 bytes, wrong magic or version, unknown kind or
// dtype, reserved bits set, a location in a frame of a ring, more than 1 MiB of payload, payload
// bytes that differ from elements times the size of the dtype. Whether offset and length fit the
// bucket, and the location the memory, is for the receiver to check, who knows plan and memory.
absl::StatusOr<FrameHeader> DecodeFrameHeader(absl::Span<const uint8_t> bytes);

// "push of step 3 bucket 1 offset 0 (262144 elements) from 2", for error messages.
std::string Describe(const FrameHeader& header);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_FRAME_CODEC_H_
