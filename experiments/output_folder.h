// The folder that a run or a comparison leaves its results in.
#ifndef RINGSIDE_EXPERIMENTS_OUTPUT_FOLDER_H_
#define RINGSIDE_EXPERIMENTS_OUTPUT_FOLDER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace ringside {

class OutputFolder {
 public:
  // Creates what is missing of the path and tries to write there. ALREADY_EXISTS: results are there
  // and `overwrite` is false; otherwise they are removed. PERMISSION_DENIED: cannot be created or
  // written, with the kernel's reason.
  // A job that goes on from a checkpoint (`resumes`) finds the step records and checkpoints of the
  // one before there, which are not results then and stay.
  static absl::StatusOr<OutputFolder> Prepare(const std::string& path, bool overwrite,
                                              bool resumes = false);
  // In the system's folder for such things.
  static absl::StatusOr<OutputFolder> Temporary();

  const std::string& path() const { return path_; }
  bool temporary() const { return temporary_; }
  // Removes what a job has written, and the folders that Prepare made, so that nothing half-written
  // stays.
  void Discard() const;

 private:
  std::string path_;
  std::vector<std::string> created_;  // innermost last
  bool temporary_ = false;
  bool resumes_ = false;
};

// Removes results by the names that we give them, and folders that are empty then. Files of others
// stay.
// Step records and checkpoints stay too where the next job goes on from them.
void RemoveResults(const std::string& folder, bool resumes = false);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_OUTPUT_FOLDER_H_
