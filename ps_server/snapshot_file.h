// One snapshot in one file. Thread-safe: functions without state.
//
// A checked file (common/checked_file.h) with the magic "RINGSNAP", version 1, and as its header a
// SnapshotHeader (proto/snapshot.proto), which has the lengths of the sections: parameters,
// optimizer state (float32), versions (uint64).
//
// Errors name the file. DATA_LOSS: it is torn, damaged or no snapshot. FAILED_PRECONDITION: it is
// whole, but of another job, shard, plan or settings, or of another version of the format. What the
// system refuses has the code of its errno, e.g. RESOURCE_EXHAUSTED: the disk is full, NOT_FOUND,
// PERMISSION_DENIED.
#ifndef RINGSIDE_PS_SERVER_SNAPSHOT_FILE_H_
#define RINGSIDE_PS_SERVER_SNAPSHOT_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ps_server/snapshot.h"

namespace ringside {

// Creates or replaces `path` and returns when it is on the disk, with its size in bytes. Blocks. On
// an error what has been written is left to the caller.
absl::StatusOr<int64_t> WriteSnapshotFile(const std::string& path, const SnapshotIdentity& identity,
                                          const SnapshotView& snapshot);

// Reads and checks everything.
absl::StatusOr<ShardSnapshot> ReadSnapshotFile(const std::string& path,
                                               const SnapshotIdentity& identity);

// The cheap part of the check: header, identity and size of the file, not the sections. Returns the
// step.
absl::StatusOr<uint64_t> CheckSnapshotFile(const std::string& path,
                                           const SnapshotIdentity& identity);

}  // namespace ringside

#endif  // RINGSIDE_PS_SERVER_SNAPSHOT_FILE_H_
