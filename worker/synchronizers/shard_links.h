// A worker's streams to all shards of a parameter server: connects them, sends frames, says when
// one breaks, and gives lent memory back before it goes.
//
// Thread-safe. Frames are sent straight out of the caller's memory, which must stay as it is until
// the shard's answer shows that it has arrived, or until this object is destroyed.
#ifndef RINGSIDE_WORKER_SYNCHRONIZERS_SHARD_LINKS_H_
#define RINGSIDE_WORKER_SYNCHRONIZERS_SHARD_LINKS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "common/frame_codec.h"
#include "common/group.h"
#include "common/mutex.h"
#include "common/network/grpc_frame.h"
#include "common/network/grpc_tuning.h"
#include "common/network/lent_slices.h"
#include "common/shared_memory/shared_arenas.h"
#include "common/trace/trace_buffer.h"
#include "common/traffic.h"
#include "worker/synchronizers/shard_link.h"
#include "worker/synchronizers/shard_stream.h"

namespace ringside {

class ShardLinks final : private ShardStream::Listener {
 public:
  // Called from threads of gRPC, without any lock of this object; must not block.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void OnShardFrame(int shard, ReceivedFrame frame) = 0;
    // A stream is over: in good order (OK), or the reason, with suspects. Not told before
    // AwaitConnected has returned.
    virtual void OnShardEnded(int shard, const absl::Status& how) = 0;
  };

  struct Config {
    Group group;
    std::string plan_hash;
    std::vector<ShardAddress> shards;  // by number
    std::string token;
    std::string ps_link = "auto";  // shard_link.h
    GrpcTuning tuning = {};
    // Where what is sent may lie, so that shards of this host can read it there. Outlives the
    // object.
    std::vector<const Arena*> arenas = {};
    TraceBuffer* trace = nullptr;                // ShardStream::Config
    uint32_t recovery = 0;                       // how often a lost shard was replaced before
    absl::Duration timeout = absl::Seconds(60);  // until all are connected, from Start on
  };

  // Opens the links and begins to connect. `listener` outlives the object. Blocks while a shard
  // that shares memory is not ready for it; meanwhile `interrupted` is asked, and its error ends
  // the attempt. Errors: OpenShardLink.
  static absl::StatusOr<std::unique_ptr<ShardLinks>> Start(
      Config config, const std::function<absl::Status()>& interrupted, Listener* listener);
  // Blocks until every shard has admitted this worker; call it once, before anything is sent.
  // DEADLINE_EXCEEDED: names the shards that did not answer in time; UNAVAILABLE: a connection
  // broke; UNAUTHENTICATED or FAILED_PRECONDITION: a shard refuses, and says why; CANCELLED: Cancel
  // was called.
  absl::Status AwaitConnected();
  // Gives up whatever is under way; waits until gRPC has let go of all memory.
  ~ShardLinks() override;

  void Send(int shard, absl::Span<const ShardStream::Frame> frames) {
    streams_[shard]->Send(frames);
  }
  // Half-closes all streams, once everything is sent.
  void EndWrites();
  // Blocks until all streams have ended. DEADLINE_EXCEEDED: names those that have not.
  absl::Status AwaitEnd(absl::Duration timeout);
  // Ends everything under way, from any thread: AwaitConnected and AwaitEnd return.
  void Cancel();

  // The transports in force, e.g. "shm".
  const std::string& in_force() const { return in_force_; }
  TrafficCounters traffic() const;

 private:
  ShardLinks(Config config, const std::vector<ShardLink>& links, SharedArenas shared,
             absl::Time deadline, Listener* listener);

  void OnShardConnected(int shard) override;
  void OnShardFrame(int shard, ReceivedFrame frame) override;
  void OnShardEnded(int shard, const absl::Status& how) override;

  // Constant after construction.
  const Config config_;
  const SharedArenas shared_;  // what shards of this host have mapped
  const std::string in_force_;
  const absl::Time deadline_;  // for all to be connected
  Listener* const listener_;
  // Outlives this object if gRPC does not give everything back in time.
  std::unique_ptr<LentSlices> lent_;
  std::vector<std::unique_ptr<ShardStream>> streams_;  // by shard

  mutable Mutex mutex_;
  CondVar changed_;
  std::vector<bool> connected_ ABSL_GUARDED_BY(mutex_);  // by shard
  std::vector<bool> ended_ ABSL_GUARDED_BY(mutex_);      // by shard
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);         // while connecting
  bool connecting_ ABSL_GUARDED_BY(mutex_) = true;
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_SYNCHRONIZERS_SHARD_LINKS_H_
