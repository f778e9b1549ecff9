// Frames of gradients and sums as gRPC messages. Also the names by which a worker introduces its
// stream to a shard.
//
// A message is one frame: the 64-byte header of common/frame_codec.h, then the payload, both as
// slices, never as a protobuf field. Or it is the headers of one or several frames whose payload
// lies in the sender's shared memory, one after another. Pure, safe from any thread.
#ifndef RINGSIDE_COMMON_NETWORK_GRPC_FRAME_H_
#define RINGSIDE_COMMON_NETWORK_GRPC_FRAME_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/frame_codec.h"
#include "common/frame_payload.h"
#include "common/shared_memory/peer_memory.h"

namespace ringside {

// One bidirectional stream of frames per worker and shard: pushes one way, results the other.
inline constexpr char kExchangeMethod[] = "/ringside.ParameterServer/Exchange";
// Request metadata of the stream.
inline constexpr char kTokenKey[] = "ringside-token";  // SHA-256 of it: metadata must be ASCII
inline constexpr char kRankKey[] = "ringside-rank";
inline constexpr char kGenerationKey[] = "ringside-generation";
inline constexpr char kPlanKey[] = "ringside-plan";          // BucketPlan::hash
inline constexpr char kRecoveryKey[] = "ringside-recovery";  // losses of shards made good before
inline constexpr char kMemoryKey[] = "ringside-memory";      // ticket of the memory that is shared
// Initial metadata of the answer, once the worker is admitted: the number of the shard.
inline constexpr char kShardKey[] = "ringside-shard";

// So that reading one message is bounded work: 4 KiB of headers.
inline constexpr size_t kMaxFramesPerMessage = 64;

// A message that refers to `payload`, without a copy of it. REQUIRES: a header without location.
grpc::ByteBuffer MakeFrame(const FrameHeader& header, const grpc::Slice& payload);
// A message of these headers alone. REQUIRES: 1 to kMaxFramesPerMessage, each with a location.
grpc::ByteBuffer MakeHeaders(absl::Span<const FrameHeader> headers);

struct ReceivedFrame {
  FrameHeader header;
  FramePayload payload;  // refers to the message's or the peer's memory and keeps it
};
// A message of one frame with its payload. INVALID_ARGUMENT: shorter than a header, or what
// DecodeFrameHeader refuses, or a payload of another length than the header says, or in shared
// memory.
absl::StatusOr<ReceivedFrame> SplitFrame(const grpc::ByteBuffer& message);
// Appends the frames of any message to `frames`. `memory` is the sender's; null: it shares none.
// INVALID_ARGUMENT: as above, or not a whole number of headers, more than kMaxFramesPerMessage, or
// a location outside the memory; then `frames` is as before.
absl::Status SplitMessage(const grpc::ByteBuffer& message,
                          const std::shared_ptr<const PeerMemory>& memory,
                          std::vector<ReceivedFrame>* frames);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_NETWORK_GRPC_FRAME_H_
