// The training loop: data, forward, backward with buckets submitted as they fill, sums, optimizer,
// record.
//
// Free of LibTorch: it knows a Model and a GradientSynchronizer. A process usually plays one rank;
// `local` plays all ranks in turn. Thread-compatible: one thread calls everything, and it is the
// thread that LibTorch was configured on.
#ifndef RINGSIDE_WORKER_TRAINER_H_
#define RINGSIDE_WORKER_TRAINER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/arena.h"
#include "common/bucket_plan.h"
#include "results.pb.h"
#include "worker/data/dataset.h"
#include "worker/data/sampler.h"
#include "worker/models/bucket_tracker.h"
#include "worker/models/model.h"
#include "worker/synchronizers/gradient_synchronizer.h"

namespace ringside {

class Trainer {
 public:
  struct Config {
    int world_size = 1;
    std::vector<int> hosted_ranks;  // ascending; played in this order
    int64_t global_batch_size = 1;
    int64_t seed = 1;  // of shuffling
    // Exactly one of them is positive.
    int64_t steps = 0;
    int64_t epochs = 0;
    // What a rank's gradient is the gradient of: its part of the mean over the global batch, so
    // that the sum over ranks is the mean; its own mean (asynchronous servers); or its part of a
    // full batch of all ranks, which the server scales to the samples that count (backup workers).
    enum class Scale { kShareOfGlobalBatch, kOwnMean, kShareOfFullBatch };
    Scale scale = Scale::kShareOfGlobalBatch;
    bool overlap = true;  // false: buckets are submitted when backward has ended, none before
    // The synchronizer may want to let neighbours read the gradients.
    Arena::Placement gradient_placement = Arena::Placement::kHeap;
    std::function<absl::Duration()> clock;  // monotonic; any origin
  };

  // Allocates all buffers and binds the model, whose parameters have their initial values from then
  // on. All pointers are borrowed and must outlive the trainer. INVALID_ARGUMENT: an empty data
  // set, no hosted rank, or more samples a step than memory allows to address.
  static absl::StatusOr<std::unique_ptr<Trainer>> Create(Config config, const Dataset* data,
                                                         const BucketPlan* plan, Model* model);

  // The training goes on after `step`, whose parameters are to be put into mutable_parameters().
  // Both before Start.
  void ResumeAfter(int64_t step) { step_ = step; }
  absl::Span<float> mutable_parameters() { return parameters_->span(); }

  // Gives all ranks rank 0's parameters. `synchronizer` is borrowed. Errors are the synchronizer's.
  absl::Status Start(GradientSynchronizer* synchronizer);

  // Trains all steps that are left. `on_step` gets each record as soon as its step is over; its
  // time counts to no step. Where the synchronizer goes back, a step is run and told again; where
  // it goes ahead, steps are left out. The first error ends the run: of the synchronizer, of the
  // model, of `on_step`.
  absl::Status Run(const std::function<absl::Status(const StepRecord&)>& on_step);

  int64_t total_steps() const { return total_steps_; }
  // The step that is running or was the last to run; 0 before the first.
  int64_t step() const { return step_; }
  // The current parameters.
  absl::Span<const float> parameters() const { return parameters_->span(); }
  // Lives as long as the trainer.
  const Arena& gradients() const { return *gradients_; }

 private:
  Trainer(Config config, const Dataset* data, const BucketPlan* plan, Model* model, Sampler sampler,
          std::unique_ptr<Arena> parameters, std::unique_ptr<Arena> gradients);

  // Returns the step after which the parameters are.
  absl::StatusOr<int64_t> RunStep(StepRecord* record);
  absl::Status PlayRank(int rank, StepRecord* record);
  // Of a rank's mean loss, in its gradient.
  double GradientWeight(int64_t samples, int64_t global_samples) const;
  void Submit(int bucket);

  // Constant after construction.
  const Config config_;
  const Dataset* const data_;
  const BucketPlan* const plan_;
  Model* const model_;
  const std::unique_ptr<Arena> parameters_;
  const std::unique_ptr<Arena> gradients_;  // of the rank that is being played
  int64_t total_steps_ = 0;

  Sampler sampler_;
  BucketTracker tracker_;
  GradientSynchronizer* synchronizer_ = nullptr;
  std::vector<float> images_;  // of the largest batch
  std::vector<int64_t> labels_;
  int64_t step_ = 0;
  int playing_rank_ = 0;
  int64_t playing_samples_ = 0;
  bool after_backward_ = false;  // of the last rank that is played
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_TRAINER_H_
