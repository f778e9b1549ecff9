// How a worker gets back to its parameter server after a shard was lost: what PsExchange needs of
// the world outside.
#ifndef RINGSIDE_WORKER_SYNCHRONIZERS_SHARD_RECOVERY_H_
#define RINGSIDE_WORKER_SYNCHRONIZERS_SHARD_RECOVERY_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/synchronizers/shard_link.h"

namespace ringside {

class ShardRecovery {
 public:
  // Where all go on, as everybody learned it (common/recovery_plan.h).
  struct Meeting {
    uint32_t recovery = 0;
    std::vector<ShardAddress> shards;    // by number
    std::vector<std::string> workers;    // states, by rank
    std::vector<std::string> snapshots;  // of shards, by number
  };

  virtual ~ShardRecovery() = default;

  // Blocks until another process has taken the place of the shard whose loss may be behind
  // `failure`, and until all members have told their states; `state` is this worker's. The error is
  // what to end with: the job's verdict, or `failure` itself where it is not a lost shard's.
  virtual absl::StatusOr<Meeting> Meet(const absl::Status& failure, int64_t step,
                                       const std::string& state) = 0;

  // Calls `handler` with ABORTED, the shard as suspect, as soon as a shard has been replaced after
  // `recovery`: who still connects to the shards of that recovery may wait in vain. At once where
  // that has happened already; from any thread; it must not block, nor call back. Replaces an
  // earlier handler, which on return neither runs nor will be called. Empty: nobody wants to know.
  virtual void WatchReplacements(uint32_t recovery,
                                 std::function<void(const absl::Status&)> handler) = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_SYNCHRONIZERS_SHARD_RECOVERY_H_
