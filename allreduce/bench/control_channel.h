// Length-prefixed protobuf messages over a stream: how the bench and its rank processes talk
// (proto/allreduce_bench_control.proto). Stateless.
#ifndef RINGSIDE_ALLREDUCE_BENCH_CONTROL_CHANNEL_H_
#define RINGSIDE_ALLREDUCE_BENCH_CONTROL_CHANNEL_H_

#include <google/protobuf/message_lite.h>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/network/byte_stream.h"

namespace ringside {

// Both block. UNAVAILABLE: the other end is gone; DEADLINE_EXCEEDED: it is silent or takes nothing.
// ReadControlMessage also INVALID_ARGUMENT: what came is no such message.
absl::Status WriteControlMessage(const google::protobuf::MessageLite& message, ByteStream* stream,
                                 absl::Time deadline);
absl::Status ReadControlMessage(ByteStream* stream, google::protobuf::MessageLite* message,
                                absl::Time deadline);

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_BENCH_CONTROL_CHANNEL_H_
