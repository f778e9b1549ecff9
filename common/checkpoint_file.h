// A checkpoint of a training in one file: a checked file (common/checked_file.h) with the magic
// "RINGCKPT", version 1, and as its header a CheckpointManifest (proto/checkpoint.proto), which
// names the sections that follow, each with its length and its SHA-256.
//
// One file and not a folder of them, so that one rename makes it appear and one copy moves it.
// Errors are those of checked files. Functions without state; they block on the disk.
#ifndef RINGSIDE_COMMON_CHECKPOINT_FILE_H_
#define RINGSIDE_COMMON_CHECKPOINT_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "checkpoint.pb.h"

namespace ringside {

inline constexpr uint32_t kCheckpointSchemaVersion = 1;

// A named piece of a training's state, lent: read from when it is saved, written to when it is
// restored.
struct StateSection {
  std::string name;
  std::string dtype;  // float32, int64
  absl::Span<uint8_t> bytes;

  static StateSection Of(std::string name, absl::Span<float> values);
  static StateSection Of(std::string name, absl::Span<int64_t> values);
};

struct Checkpoint {
  CheckpointManifest manifest;
  std::vector<std::vector<uint8_t>> sections;  // as the manifest lists them

  // Null: there is none of this name.
  const std::vector<uint8_t>* Find(absl::string_view name) const;
};

// Completes the manifest by schema version and sections, and writes. Creates or replaces `path`;
// returns when it is on the disk, with its size in bytes. On an error what has been written is left
// to the caller.
absl::StatusOr<int64_t> WriteCheckpointFile(const std::string& path, CheckpointManifest manifest,
                                            const std::vector<StateSection>& sections);

// Reads and checks everything.
absl::StatusOr<Checkpoint> ReadCheckpointFile(const std::string& path);

// The cheap part: the manifest, and that the file has the size that it announces. The sections are
// not read.
absl::StatusOr<CheckpointManifest> ReadCheckpointManifest(const std::string& path);

// Copies the sections of a checkpoint to where they belong. FAILED_PRECONDITION: the two lists
// differ; names the first section that one of them lacks or that has another length.
absl::Status RestoreSections(const Checkpoint& checkpoint,
                             const std::vector<StateSection>& sections);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CHECKPOINT_FILE_H_
