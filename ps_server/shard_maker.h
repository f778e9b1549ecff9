// Makes the state of one shard: fresh for a new job, resumed inside a step or restored from a
// snapshot after a loss; and saves snapshots. Blocks on the disk. Thread-compatible.
#ifndef RINGSIDE_PS_SERVER_SHARD_MAKER_H_
#define RINGSIDE_PS_SERVER_SHARD_MAKER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "common/bucket_plan.h"
#include "common/unit_table.h"
#include "coordinator.pb.h"
#include "ps_server/parameter_shard.h"
#include "ps_server/shard_settings.h"
#include "ps_server/snapshot_store.h"

namespace ringside {

class ShardMaker {
 public:
  struct Config {
    int shard = 0;
    std::string job;              // tells runs apart that share a folder
    std::string snapshot_folder;  // empty: no snapshots
    Arena::Placement placement = Arena::Placement::kHeap;
    int threads = 1;  // of ParameterShard::Config
    std::function<void(const ParameterShard::Election&)> on_election = nullptr;
  };
  // What all members told each other after a loss.
  struct States {
    std::vector<std::string> workers;    // by rank
    std::vector<std::string> snapshots;  // by shard
  };

  // FAILED_PRECONDITION, INVALID_ARGUMENT: ReadShardSettings, BucketPlan::Create; snapshots are
  // wanted and no folder is named. PERMISSION_DENIED: it cannot be written to.
  static absl::StatusOr<std::unique_ptr<ShardMaker>> Create(Config config,
                                                            const Membership& membership);

  // For a job that begins. Snapshots of an earlier run are removed.
  absl::StatusOr<std::unique_ptr<ParameterShard>> MakeFresh();
  // What this shard has to tell the others after a loss: the snapshots that it could go back to.
  std::string OwnState() const;
  // For a job that goes on. FAILED_PRECONDITION: there is no snapshot that all shards have;
  // INVALID_ARGUMENT: states that cannot be read; otherwise the errors of SnapshotStore::Load.
  absl::StatusOr<std::unique_ptr<ParameterShard>> MakeRecovered(const States& states);

  // Saves a snapshot if one is due after `step`, or `now`. Errors are SnapshotStore::Save's.
  absl::Status SaveIfDue(uint64_t step, bool now, ParameterShard* shard);
  bool saves_snapshots() const { return store_.has_value(); }

  const BucketPlan& plan() const { return plan_; }
  const ShardLayout& layout() const { return layout_; }
  const ShardSettings& settings() const { return settings_; }
  // Of all snapshots so far.
  int64_t snapshots() const { return snapshots_; }
  absl::Duration snapshot_time() const { return snapshot_time_; }

 private:
  ShardMaker(Config config, ShardSettings settings, BucketPlan plan, ShardLayout layout,
             uint32_t generation, absl::optional<SnapshotStore> store);

  ParameterShard::Config ShardConfig() const;
  absl::StatusOr<std::unique_ptr<ParameterShard>> Resume(const States& states);
  absl::StatusOr<std::unique_ptr<ParameterShard>> Restore(const States& states);

  const Config config_;
  const ShardSettings settings_;
  const BucketPlan plan_;
  const ShardLayout layout_;
  const uint32_t generation_;
  absl::optional<SnapshotStore> store_;
  int64_t snapshots_ = 0;
  absl::Duration snapshot_time_;
};

}  // namespace ringside

#endif  // RINGSIDE_PS_SERVER_SHARD_MAKER_H_
