#include "common/recovery_plan.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/check.h"
#include "common/status_macros.h"
#include "shard.pb.h"

namespace ringside {

SumRecovery::SumRecovery(std::vector<WorkerProgress> workers) : workers_(std::move(workers)) {
  RINGSIDE_CHECK(!workers_.empty());
  step_ = workers_[0].step;
  for (const WorkerProgress& worker : workers_) step_ = std::min(step_, worker.step);
}

bool SumRecovery::Lacks(int worker, int shard, int unit) const {
  return workers_[worker].step == step_ && !workers_[worker].received[shard][unit];
}

absl::optional<int> SumRecovery::Restorer(int shard, int unit) const {
  absl::optional<int> restorer;
  bool needed = false;
  for (int worker = 0; worker < static_cast<int>(workers_.size()); ++worker) {
    if (Lacks(worker, shard, unit)) {
      needed = true;
    } else if (!restorer.has_value()) {
      restorer = worker;
    }
  }
  return needed ? restorer : absl::nullopt;
}

absl::StatusOr<uint64_t> CommonSnapshot(const std::vector<std::vector<uint64_t>>& by_shard) {
  absl::optional<uint64_t> newest;
  std::vector<int> without;
  for (size_t shard = 0; shard < by_shard.size(); ++shard) {
    if (by_shard[shard].empty()) without.push_back(static_cast<int>(shard));
  }
  if (without.empty() && !by_shard.empty()) {
    for (uint64_t step : by_shard[0]) {
      const bool common =
          std::all_of(by_shard.begin(), by_shard.end(), [step](const std::vector<uint64_t>& own) {
            return std::find(own.begin(), own.end(), step) != own.end();
          });
      if (common) newest = std::max(newest.value_or(0), step);
    }
  }
  if (newest.has_value()) return *newest;
  return absl::FailedPreconditionError(
      without.empty()
          ? std::string("the shards have no snapshot of one and the same step")
          : absl::StrCat("no snapshot of shard ", absl::StrJoin(without, ", "),
                         " can be read, so its parameters are lost; --snapshot_steps keeps them"));
}

std::string EncodeWorkerProgress(const WorkerProgress& progress) {
  WorkerRecoveryState message;
  message.set_step(progress.step);
  for (const std::vector<bool>& units : progress.received) {
    message.add_received(std::string(units.begin(), units.end()));
  }
  return message.SerializeAsString();
}

absl::StatusOr<WorkerProgress> DecodeWorkerProgress(const std::string& bytes,
                                                    const std::vector<int>& units) {
  WorkerRecoveryState message;
  bool readable =
      message.ParseFromString(bytes) && message.received_size() == static_cast<int>(units.size());
  for (int shard = 0; readable && shard < message.received_size(); ++shard) {
    readable = static_cast<int>(message.received(shard).size()) == units[shard];
  }
  if (!readable) {
    return absl::InvalidArgumentError("a worker says what it has received in an unknown way");
  }
  WorkerProgress progress;
  progress.step = message.step();
  for (const std::string& shard : message.received()) {
    progress.received.emplace_back(shard.begin(), shard.end());
  }
  return progress;
}

std::string EncodeSnapshots(const std::vector<uint64_t>& steps) {
  ShardRecoveryState message;
  for (uint64_t step : steps) message.add_snapshots(step);
  return message.SerializeAsString();
}

absl::StatusOr<std::vector<uint64_t>> DecodeSnapshots(const std::string& bytes) {
  ShardRecoveryState message;
  if (!message.ParseFromString(bytes)) {
    return absl::InvalidArgumentError("a shard says which snapshots it has in an unknown way");
  }
  return std::vector<uint64_t>(message.snapshots().begin(), message.snapshots().end());
}

absl::StatusOr<SumRecovery> ReadSumRecovery(const std::vector<std::string>& workers, int world_size,
                                            const std::vector<int>& units) {
  if (static_cast<int>(workers.size()) != world_size) {
    return absl::InvalidArgumentError(absl::StrCat(
        workers.size(), " workers have told where they are, the job has ", world_size));
  }
  std::vector<WorkerProgress> states;
  for (const std::string& state : workers) {
    RINGSIDE_ASSIGN_OR_RETURN(WorkerProgress progress, DecodeWorkerProgress(state, units));
    states.push_back(std::move(progress));
  }
  return SumRecovery(std::move(states));
}

absl::StatusOr<uint64_t> ReadCommonSnapshot(const std::vector<std::string>& shards) {
  std::vector<std::vector<uint64_t>> by_shard;
  for (const std::string& snapshots : shards) {
    RINGSIDE_ASSIGN_OR_RETURN(std::vector<uint64_t> steps, DecodeSnapshots(snapshots));
    by_shard.push_back(std::move(steps));
  }
  return CommonSnapshot(by_shard);
}

}  // namespace ringside
