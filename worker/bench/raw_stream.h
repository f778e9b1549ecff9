// The worker's side of the raw gRPC ceiling: one stream of frames to one shard, which sends every
// frame back at once. By gRPC's callback API and by its synchronous one.
#ifndef RINGSIDE_WORKER_BENCH_RAW_STREAM_H_
#define RINGSIDE_WORKER_BENCH_RAW_STREAM_H_

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace ringside {

inline constexpr char kRawEchoMethod[] = "/ringside.RawEcho/Exchange";

// Used by one thread.
class RawStream {
 public:
  virtual ~RawStream() = default;

  // `frames` are about to be sent, and are to come back; `keep` them for TakeKept.
  virtual void Expect(int64_t frames, bool keep) = 0;
  // `frame` must stay until Await has returned. May block until the transport has taken it.
  virtual void Send(const grpc::ByteBuffer* frame) = 0;
  // Blocks until all that was expected is back. DEADLINE_EXCEEDED: it is not; UNAVAILABLE: the
  // stream is broken.
  virtual absl::Status Await(absl::Time deadline) = 0;
  virtual std::vector<grpc::ByteBuffer> TakeKept() = 0;
};

// Errors show in Await. The destructors cancel the stream.
std::unique_ptr<RawStream> OpenCallbackStream(std::shared_ptr<grpc::Channel> channel);
std::unique_ptr<RawStream> OpenSyncStream(std::shared_ptr<grpc::Channel> channel);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_BENCH_RAW_STREAM_H_
