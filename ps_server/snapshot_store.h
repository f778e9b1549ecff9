// The snapshots of one shard in a folder, which shards and jobs may share:
// shard-1-step-000120.snap.
//
// A snapshot is written under another name and renamed when it is on the disk, so a file of that
// name is whole whenever the process or the machine fails. The newest two are kept: shards of a
// synchronous job are never a snapshot further apart than that, so there is one step that all of
// them have. Files that are damaged, or of another identity, are never loaded, counted or removed,
// but replaced where the name is needed.
//
// Thread-compatible; blocks on the disk. One process a shard writes.
#ifndef RINGSIDE_PS_SERVER_SNAPSHOT_STORE_H_
#define RINGSIDE_PS_SERVER_SNAPSHOT_STORE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/durable_folder.h"
#include "ps_server/snapshot.h"

namespace ringside {

class SnapshotStore {
 public:
  struct Config {
    std::string folder;  // --snapshot_dir; made if missing
    SnapshotIdentity identity;
  };

  // Makes the folder and removes what an interrupted Save of this shard has left there.
  // INVALID_ARGUMENT: no folder is named. PERMISSION_DENIED: it cannot be made or written to.
  static absl::StatusOr<SnapshotStore> Create(Config config);

  // Returns when the snapshot is on the disk, with its size in bytes. Removes all of this identity
  // but it and the newest of the earlier ones: later ones are from before the shard went back to an
  // earlier step. On an error, which is WriteSnapshotFile's, the others are as they were.
  absl::StatusOr<int64_t> Save(const SnapshotView& snapshot);

  // Steps of what looks like a snapshot of this identity, the newest first: header and size are
  // right, but the sections have not been read. Empty if the folder cannot be read.
  std::vector<uint64_t> List() const;

  // NOT_FOUND: there is none of this step. Other errors are ReadSnapshotFile's, and DATA_LOSS: the
  // file is of another step than its name says. The caller can take an older one.
  absl::StatusOr<ShardSnapshot> Load(uint64_t step) const;

  // For a shard that goes back to `step`: forgets what came after, which need not come again.
  absl::Status RemoveAfter(uint64_t step);

  std::string PathOf(uint64_t step) const { return folder_.PathOf(step); }

 private:
  SnapshotStore(DurableFolder folder, SnapshotIdentity identity)
      : folder_(std::move(folder)), identity_(std::move(identity)) {}

  DurableFolder folder_;
  SnapshotIdentity identity_;
};

}  // namespace ringside

#endif  // RINGSIDE_PS_SERVER_SNAPSHOT_STORE_H_
