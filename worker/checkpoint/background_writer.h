// Writes the state of a training while the training goes on: the state is copied into a buffer,
// which was allocated once, and a thread writes that. Training stands still for the copy alone, and
// where the write before is not done yet, for the rest of that: there are never two at once.
//
// Save, Finish and the destructor belong to the training thread; the others to any.
#ifndef RINGSIDE_WORKER_CHECKPOINT_BACKGROUND_WRITER_H_
#define RINGSIDE_WORKER_CHECKPOINT_BACKGROUND_WRITER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/arena.h"
#include "common/checkpoint_file.h"
#include "common/mutex.h"

namespace ringside {

class BackgroundWriter {
 public:
  // Returns when the checkpoint is safe, with its size in bytes. Called on the writer's thread.
  using Write = std::function<absl::StatusOr<int64_t>(const CheckpointManifest&,
                                                      const std::vector<StateSection>&)>;
  struct Totals {
    int64_t written = 0;                           // checkpoints
    int64_t bytes = 0;                             // of the last one
    absl::Duration waiting;                        // of training, for the write before
    absl::Duration copying;                        // of training
    absl::Duration writing;                        // of the thread
    absl::Time written_at = absl::InfinitePast();  // by MonotonicNow; when the last one was safe
  };

  // `state` is what is saved, at the same place for as long as the writer lives.
  // RESOURCE_EXHAUSTED: no memory for the buffer.
  static absl::StatusOr<std::unique_ptr<BackgroundWriter>> Create(std::vector<StateSection> state,
                                                                  Write write);
  // Waits for a write that is under way.
  ~BackgroundWriter();
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;

  // Takes the state as it is now. The error is that of an earlier write, and sticky.
  absl::Status Save(CheckpointManifest manifest) ABSL_LOCKS_EXCLUDED(mutex_);
  // Waits until nothing is left to write. Returns the first error of all writes.
  absl::Status Finish() ABSL_LOCKS_EXCLUDED(mutex_);
  // The first error so far, without waiting.
  absl::Status Error() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Save would have to wait.
  bool busy() const ABSL_LOCKS_EXCLUDED(mutex_);
  Totals totals() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  BackgroundWriter(std::vector<StateSection> state, Write write, std::unique_ptr<Arena> buffer);

  void WriteLoop() ABSL_LOCKS_EXCLUDED(mutex_);

  // Constant after construction.
  const std::vector<StateSection> state_;
  const Write write_;
  const std::unique_ptr<Arena> buffer_;
  std::vector<StateSection> copy_;  // of `state_`, in the buffer; of whoever `pending_` says

  mutable Mutex mutex_;
  CondVar changed_;
  CheckpointManifest manifest_ ABSL_GUARDED_BY(mutex_);
  bool pending_ ABSL_GUARDED_BY(mutex_) = false;  // the buffer is the thread's
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
  Totals totals_ ABSL_GUARDED_BY(mutex_);

  std::thread thread_;  // last, so that it starts when all else is there
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_CHECKPOINT_BACKGROUND_WRITER_H_
