// Writes step records as they come, one JSON object a line: <out>/steps/worker-<rank>.jsonl.
#ifndef RINGSIDE_WORKER_STEP_WRITER_H_
#define RINGSIDE_WORKER_STEP_WRITER_H_

#include <cstdio>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "results.pb.h"

namespace ringside {

// Creates <out> and <out>/steps where they are missing, and tries whether files can be made there;
// leaves none. INVALID_ARGUMENT: names the folder and what the system says.
absl::Status PrepareOutputFolder(const std::string& out);

// One line: the fields of the record by their names in results.proto, all of them (but for those
// that only rank 0 can know, and that at the end), with plain numbers (NaN and infinities as
// strings, as in protobuf's JSON, which also reads these lines).
std::string ToJsonLine(const StepRecord& record);

// Thread-compatible. Lines reach the file about once per second of training and at the end.
class StepWriter {
 public:
  // Replaces an older file, but for its records of steps up to `resumed_step`, which are where a
  // job that goes on from a checkpoint began. INVALID_ARGUMENT: it cannot be read or opened; names
  // the path and what the system says.
  static absl::StatusOr<std::unique_ptr<StepWriter>> Create(const std::string& out, int rank,
                                                            int64_t resumed_step = 0);

  // DATA_LOSS, here and in Close: what was written did not reach the file, e.g. because the disk is
  // full.
  absl::Status Append(const StepRecord& record);
  // Brings what has been appended to the file.
  absl::Status Flush();
  absl::Status Close();

 private:
  struct CloseFile {
    void operator()(FILE* file) const { std::fclose(file); }
  };

  StepWriter(std::string path, FILE* file) : path_(std::move(path)), file_(file) {}

  absl::Status Write(const std::string& text);

  const std::string path_;
  std::unique_ptr<FILE, CloseFile> file_;
  double unflushed_s_ = 0;  // step time of what may still be in the buffer
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_STEP_WRITER_H_
