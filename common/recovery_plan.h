// Where workers and shards go on after a lost shard has been replaced. Pure: everybody works it out
// from the same states.
//
// Shards that only add up gradients have nothing to restore but the sums of the open step: that is
// the oldest step that some worker is in. What a worker has received of it (or, when it is in a
// later one, all of it) still lies in its own memory: the lowest rank that has a sum restores it.
// Sums that nobody has are folded again from gradients that are pushed again.
//
// Shards that hold the parameters go back to the newest step of which all of them have a snapshot,
// and the workers with them.
#ifndef RINGSIDE_COMMON_RECOVERY_PLAN_H_
#define RINGSIDE_COMMON_RECOVERY_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"

namespace ringside {

// What a worker has of the step that it is in, or was in last.
struct WorkerProgress {
  int64_t step = 0;
  std::vector<std::vector<bool>> received;  // by shard and unit
};

class SumRecovery {
 public:
  // REQUIRES: at least one worker, all with the same shards and units.
  explicit SumRecovery(std::vector<WorkerProgress> workers);

  // That the shards open: no worker is in an earlier one.
  int64_t step() const { return step_; }
  // The worker is in a later one.
  bool IsAhead(int worker) const { return workers_[worker].step > step_; }
  // The worker has yet to get the sum of that step.
  bool Lacks(int worker, int shard, int unit) const;
  // Who restores the sum: nothing where nobody has it, or nobody needs it.
  absl::optional<int> Restorer(int shard, int unit) const;

 private:
  std::vector<WorkerProgress> workers_;
  int64_t step_ = 0;
};

// The newest step that all lists have, one list a shard. FAILED_PRECONDITION: there is none; names
// the shards that have no snapshot at all.
absl::StatusOr<uint64_t> CommonSnapshot(const std::vector<std::vector<uint64_t>>& by_shard);

// For the wire: see shard.proto. INVALID_ARGUMENT: cannot be read, or not of `units` units by
// shard.
std::string EncodeWorkerProgress(const WorkerProgress& progress);
absl::StatusOr<WorkerProgress> DecodeWorkerProgress(const std::string& bytes,
                                                    const std::vector<int>& units);
std::string EncodeSnapshots(const std::vector<uint64_t>& steps);
absl::StatusOr<std::vector<uint64_t>> DecodeSnapshots(const std::string& bytes);

// The plans, from the states of all workers, by rank, and of all shards, by number. Errors are
// those of decoding and of CommonSnapshot, and INVALID_ARGUMENT: not `world_size` workers.
absl::StatusOr<SumRecovery> ReadSumRecovery(const std::vector<std::string>& workers, int world_size,
                                            const std::vector<int>& units);
absl::StatusOr<uint64_t> ReadCommonSnapshot(const std::vector<std::string>& shards);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_RECOVERY_PLAN_H_
