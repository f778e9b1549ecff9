// Decides when rank 0 saves its training: every so many steps, after the last one, and when a
// signal asks for it. Thread-compatible: the training thread's.
#ifndef RINGSIDE_WORKER_CHECKPOINT_CHECKPOINTER_H_
#define RINGSIDE_WORKER_CHECKPOINT_CHECKPOINTER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/checkpoint/background_writer.h"
#include "worker/checkpoint/checkpoint_store.h"
#include "worker/checkpoint/manifest.h"
#include "worker/checkpoint/training_signals.h"

namespace ringside {

class Checkpointer {
 public:
  struct Config {
    int64_t every_steps = 0;             // 0: when asked only
    int64_t last_step = 0;               // of the run
    TrainingSignals* signals = nullptr;  // outlives the checkpointer; null: nobody asks
  };

  // `state` as BackgroundWriter's. RESOURCE_EXHAUSTED: no memory for a copy of it.
  static absl::StatusOr<std::unique_ptr<Checkpointer>> Create(const Config& config,
                                                              CheckpointStore store,
                                                              ManifestMaker manifests,
                                                              std::vector<StateSection> state);

  // After each step, when the state is that of the step. CANCELLED: a signal has asked for the end,
  // and the checkpoint is on the disk; says where. Otherwise the errors of writing, also of one
  // that began at an earlier step; they name the file. After the last step others have no patience
  // for this process: where the write before is not done yet, the last is left to Finish.
  absl::Status OnStep(int64_t step);
  // At the end of the run, when nobody waits for this process any more: waits until everything is
  // on the disk. The state is still that of the last step.
  absl::Status Finish();
  // Finish has something to wait for.
  bool busy() const { return saves_last_ || writer_->busy(); }
  BackgroundWriter::Totals totals() const { return writer_->totals(); }

 private:
  Checkpointer(const Config& config, CheckpointStore store, ManifestMaker manifests)
      : config_(config), store_(std::move(store)), manifests_(std::move(manifests)) {}

  const Config config_;
  const CheckpointStore store_;  // of the writer's thread
  const ManifestMaker manifests_;
  bool saves_last_ = false;                   // what is left to Finish
  std::unique_ptr<BackgroundWriter> writer_;  // last, so that its thread ends before what it uses
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_CHECKPOINT_CHECKPOINTER_H_
