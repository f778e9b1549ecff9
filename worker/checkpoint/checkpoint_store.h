// The checkpoints of one training in a folder: step-000123.ckpt. A file of that name is whole
// whenever the process or the machine fails (common/durable_folder.h); the last few are kept.
//
// Files that are damaged are never counted or removed, but replaced where the name is needed.
// Thread-compatible; blocks on the disk. Rank 0 alone writes.
#ifndef RINGSIDE_WORKER_CHECKPOINT_CHECKPOINT_STORE_H_
#define RINGSIDE_WORKER_CHECKPOINT_CHECKPOINT_STORE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/checkpoint_file.h"
#include "common/durable_folder.h"

namespace ringside {

class CheckpointStore {
 public:
  struct Config {
    std::string folder;        // --checkpoint_dir; made if missing
    int keep = 2;              // how many
    std::string resumed_from;  // path of the checkpoint that the training goes on from; empty: none
  };

  // To write. Removes what an interrupted Save has left. INVALID_ARGUMENT: no folder is named.
  // PERMISSION_DENIED: it cannot be made or written to. ALREADY_EXISTS: it holds checkpoints, and
  // the training does not go on from one of them, so they are of another one.
  static absl::StatusOr<CheckpointStore> Create(const Config& config);
  // To look for one. PERMISSION_DENIED: there is no such folder, or it cannot be read.
  static absl::StatusOr<CheckpointStore> OpenToRead(const std::string& folder);

  // Returns when the checkpoint is on the disk, with its size in bytes. Removes all but it and the
  // newest of the earlier ones: later ones are from before the training went back to an earlier
  // step. On an error, which is WriteCheckpointFile's, the others are as they were.
  absl::StatusOr<int64_t> Save(const CheckpointManifest& manifest,
                               const std::vector<StateSection>& sections) const;

  // Steps of all files of such a name, the newest first; nobody has looked into them.
  std::vector<uint64_t> Names() const { return folder_.Steps(); }
  // Of those that look like a checkpoint: manifest and size are right, but the sections have not
  // been read.
  std::vector<uint64_t> List() const;

  std::string PathOf(uint64_t step) const { return folder_.PathOf(step); }
  const std::string& folder() const { return folder_.path(); }

 private:
  CheckpointStore(DurableFolder folder, int keep) : folder_(std::move(folder)), keep_(keep) {}

  DurableFolder folder_;
  int keep_;
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_CHECKPOINT_CHECKPOINT_STORE_H_
