// Frames of gradients and sums as gRPC messages: the 64-byte header of common/frame_codec.h, then
// the payload, both as slices, never as a protobuf field. Also the names by which a worker
// introduces its stream to a shard.
#ifndef RINGSIDE_COMMON_NETWORK_GRPC_FRAME_H_
#define RINGSIDE_COMMON_NETWORK_GRPC_FRAME_H_

#include <grpcpp/grpcpp.h>

#include "absl/status/statusor.h"
#include "common/frame_codec.h"
#include "common/frame_payload.h"

namespace ringside {

// One bidirectional stream of frames per worker and shard: pushes one way, results the other.
inline constexpr char kExchangeMethod[] = "/ringside.ParameterServer/Exchange";
// Request metadata of the stream.
inline constexpr char kTokenKey[] = "ringside-token";  // SHA-256 of it: metadata must be ASCII
inline constexpr char kRankKey[] = "ringside-rank";
inline constexpr char kGenerationKey[] = "ringside-generation";
inline constexpr char kPlanKey[] = "ringside-plan";  // BucketPlan::hash
inline constexpr char kRecoveryKey[] = "ringside-recovery";  // losses of shards made good before
// Initial metadata of the answer, once the worker is admitted: the number of the shard.
inline constexpr char kShardKey[] = "ringside-shard";

// A message that refers to `payload`, without a copy of it.
grpc::ByteBuffer MakeFrame(const FrameHeader& header, const grpc::Slice& payload);

struct ReceivedFrame {
  FrameHeader header;
  FramePayload payload;  // refers to the message's memory and keeps it
};
// INVALID_ARGUMENT: shorter than a header, or what DecodeFrameHeader refuses, or a payload of
// another length than the header says.
absl::StatusOr<ReceivedFrame> SplitFrame(const grpc::ByteBuffer& message);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_NETWORK_GRPC_FRAME_H_
