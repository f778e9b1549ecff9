// Finds and reads the checkpoint that a training goes on from.
#ifndef RINGSIDE_WORKER_CHECKPOINT_RESUME_H_
#define RINGSIDE_WORKER_CHECKPOINT_RESUME_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "common/checkpoint_file.h"

namespace ringside {

struct FoundCheckpoint {
  std::string path;
  Checkpoint checkpoint;
};

// `resume` is what --resume says: the path of a checkpoint, or "latest" for the newest one in
// `folder`, which is --checkpoint_dir. Reads and checks all of it; `settings` (ResumeSettings) are
// what it must have in common with this job. An error means that nothing can be used as it was
// told, and that message names the newest earlier checkpoint of the same folder which can be, if
// there is one. NOT_FOUND: there is no such file, or none at all; PERMISSION_DENIED: it cannot be
// read; FAILED_PRECONDITION: it is torn, damaged or of another training, says how.
absl::StatusOr<FoundCheckpoint> FindCheckpoint(const std::string& resume, const std::string& folder,
                                               const std::map<std::string, std::string>& settings);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_CHECKPOINT_RESUME_H_
