// ShardRecovery by way of the job's coordinator, which notices a loss and lets a new process join
// in the lost shard's place.
#ifndef RINGSIDE_WORKER_COORDINATOR_RECOVERY_H_
#define RINGSIDE_WORKER_COORDINATOR_RECOVERY_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/time/time.h"
#include "common/coordinator/coordinator_client.h"
#include "worker/synchronizers/shard_recovery.h"

namespace ringside {

class CoordinatorRecovery final : public ShardRecovery {
 public:
  // `client` outlives the object. `timeout`: how long to wait for the others' states.
  CoordinatorRecovery(CoordinatorClient* client, int rank, absl::Duration timeout);

  absl::StatusOr<Meeting> Meet(const absl::Status& failure, int64_t step,
                               const std::string& state) override;
  void WatchReplacements(uint32_t recovery,
                         std::function<void(const absl::Status&)> handler) override;

 private:
  CoordinatorClient* const client_;
  const int rank_;  // of this worker
  const absl::Duration timeout_;
  uint32_t recovery_;  // the last one that was made good
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_COORDINATOR_RECOVERY_H_
