#include "ps_server/snapshot_store.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/logging.h"
#include "common/status_macros.h"
#include "ps_server/snapshot_file.h"

namespace ringside {

absl::StatusOr<SnapshotStore> SnapshotStore::Create(Config config) {
  if (config.folder.empty()) {
    return absl::InvalidArgumentError(
        "--snapshot_dir is missing: shard snapshots, which --snapshot_steps asks for, need a "
        "folder; give it, or --out");
  }
  RINGSIDE_ASSIGN_OR_RETURN(
      DurableFolder folder,
      DurableFolder::Create({"--snapshot_dir", config.folder,
                             absl::StrCat("shard-", config.identity.shard, "-step-"), ".snap"},
                            /*writable=*/true));
  return SnapshotStore(std::move(folder), std::move(config.identity));
}

absl::StatusOr<int64_t> SnapshotStore::Save(const SnapshotView& snapshot) {
  RINGSIDE_ASSIGN_OR_RETURN(const int64_t bytes,
                            folder_.Save(snapshot.step, [&](const std::string& path) {
                              return WriteSnapshotFile(path, identity_, snapshot);
                            }));
  bool kept_an_earlier_one = false;
  for (uint64_t step : List()) {
    if (step == snapshot.step) continue;
    if (step < snapshot.step && !std::exchange(kept_an_earlier_one, true)) continue;
    // The snapshot itself is safe; what cannot be removed only takes room.
    const absl::Status removed = folder_.Remove(step);
    if (!removed.ok()) LogWarning(removed.message());
  }
  return bytes;
}

std::vector<uint64_t> SnapshotStore::List() const {
  std::vector<uint64_t> steps;
  for (uint64_t step : folder_.Steps()) {
    const absl::StatusOr<uint64_t> found = CheckSnapshotFile(PathOf(step), identity_);
    if (found.ok() && *found == step) steps.push_back(step);
  }
  return steps;
}

absl::StatusOr<ShardSnapshot> SnapshotStore::Load(uint64_t step) const {
  const std::string path = PathOf(step);
  RINGSIDE_ASSIGN_OR_RETURN(ShardSnapshot snapshot, ReadSnapshotFile(path, identity_));
  if (snapshot.step == step) return snapshot;
  return absl::DataLossError(
      absl::StrCat(path, ": of step ", snapshot.step, ", which is not what its name says"));
}

absl::Status SnapshotStore::RemoveAfter(uint64_t step) {
  for (uint64_t later : List()) {
    if (later > step) RINGSIDE_RETURN_IF_ERROR(folder_.Remove(later));
  }
  return folder_.Sync();
}

}  // namespace ringside
