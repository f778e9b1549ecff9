// All that a worker has to do with checkpoints: goes on from one, and, as rank 0, writes them.
// Thread-compatible: the training thread's.
#ifndef RINGSIDE_WORKER_TRAINING_CHECKPOINTS_H_
#define RINGSIDE_WORKER_TRAINING_CHECKPOINTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "common/bucket_plan.h"
#include "common/checkpoint_file.h"
#include "common/config/job_config.h"
#include "common/parameter_spec.h"
#include "results.pb.h"
#include "worker/checkpoint/checkpoint_store.h"
#include "worker/checkpoint/checkpointer.h"
#include "worker/checkpoint/resume.h"
#include "worker/checkpoint/training_signals.h"
#include "worker/model_buffers.h"
#include "worker/synchronizers/update_state.h"
#include "worker/trainer.h"

namespace ringside {

// The setting "true" of a job whose worker 0 saves the training: shards that are told to end let
// it.
inline constexpr char kSavesTraining[] = "saves_training";

class TrainingCheckpoints {
 public:
  struct Config {
    JobConfig job;  // validated
    int rank = 0;
    int64_t training_samples = 0;
    int64_t total_steps = 0;  // of the run
    std::vector<ParameterSpec> parameters = {};
    Provenance provenance = {};
    // Of the data, what a checkpoint must have in common with the job, e.g. a vocabulary.
    std::map<std::string, std::string> data_settings = {};
    // Model::DependsOnCut of the model.
    std::string depends_on_cut = {};
    TrainingSignals* signals = nullptr;  // outlives this object; null: nobody asks
  };
  // What the training has beside parameters and the optimizer's state, e.g. a model's buffers.
  struct Buffers {
    std::vector<StateSection> sections;     // at the same place for as long as the training
    std::vector<CheckpointTensor> tensors;  // that lie in them
  };

  // Before anybody is met: reads and checks what --resume names, and as rank 0 prepares the folder.
  // Errors are those of FindCheckpoint and CheckpointStore::Create. INVALID_ARGUMENT: the
  // checkpoint has all steps of the run already.
  static absl::StatusOr<std::unique_ptr<TrainingCheckpoints>> Open(Config config,
                                                                   const BucketPlan& plan);

  // Of a model's, which are kept in `values`.
  static Buffers StateOfBuffers(const Model& model, BufferValues* values);

  // Of the checkpoint that the job goes on from; 0: none.
  int64_t resumed_step() const { return resumed_step_; }
  // What all ranks must have in common, beside their settings; and by kSavesTraining, that this one
  // writes checkpoints, which others may not know of.
  std::map<std::string, std::string> SharedFacts() const;

  // Before Trainer::Start: puts the state of the checkpoint into place, and from then on saves it.
  // Without a state of the update, which is then on the shards, neither is possible nor asked for.
  // FAILED_PRECONDITION: the checkpoint has no such state; RESOURCE_EXHAUSTED: no memory for a
  // copy.
  absl::Status Attach(Trainer* trainer, const absl::optional<UpdateState>& update_state,
                      Buffers buffers);

  // As Checkpointer's; nothing on ranks that do not write.
  absl::Status OnStep(int64_t step);
  bool busy() const { return checkpointer_ != nullptr && checkpointer_->busy(); }
  // Hashes of the state.
  void Describe(WorkerResult* result) const;
  // As Checkpointer's; then tells what was written. Returns when the last checkpoint was on the
  // disk, by MonotonicNow, or the infinite past where there is none.
  absl::StatusOr<absl::Time> Finish(WorkerResult* result);

 private:
  TrainingCheckpoints(Config config, ManifestMaker manifests)
      : config_(std::move(config)), manifests_(std::move(manifests)) {}

  // What a checkpoint must have in common with this job, beside ResumeSettings.
  static std::map<std::string, std::string> OwnSettings(const Config& config);
  bool writes() const { return config_.rank == 0 && config_.job.checkpoints(); }

  const Config config_;
  ManifestMaker manifests_;
  int64_t resumed_step_ = 0;
  std::string resumed_hash_;
  absl::optional<FoundCheckpoint> found_;  // until it is in place
  absl::optional<CheckpointStore> store_;  // until the checkpointer has it
  std::vector<StateSection> update_state_;
  std::vector<StateSection> buffers_;
  bool has_update_state_ = false;
  std::unique_ptr<Checkpointer> checkpointer_;  // null: this rank does not write
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_TRAINING_CHECKPOINTS_H_
