// The training loop: ranks are played, their gradients meet, parameters come of them, and every
// step has its record.
//
// Free of LibTorch: it knows a Model and a GradientSynchronizer. A process usually plays one rank;
// `local` plays all ranks in turn, `data_parallel` plays them at once, each on a thread and a model
// of its own. Thread-compatible: one thread calls everything, and where ranks are not played at
// once, it is the thread that LibTorch was configured on.
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
#include "worker/model_buffers.h"
#include "worker/models/model.h"
#include "worker/rank_player.h"
#include "worker/rank_threads.h"
#include "worker/synchronizers/gradient_synchronizer.h"

namespace ringside {

class Trainer {
 public:
  struct Config {
    RankPlayer::Config player;      // its ranks are set by the trainer
    std::vector<int> hosted_ranks;  // ascending; played in this order
    // Exactly one of them is positive.
    int64_t steps = 0;
    int64_t epochs = 0;
    // A step that the synchronizer skips leaves no trace in the model's buffers either.
    bool restores_buffers = false;
    // Called once on each thread that plays a rank, where there are such threads.
    std::function<absl::Status()> set_up_thread = nullptr;
  };

  // Allocates all buffers and binds the models, whose parameters have their initial values from
  // then on, and which all compute with the same ones. With one model all hosted ranks are played
  // in turn; with one for each of them they are played at once. All pointers are borrowed and must
  // outlive the trainer. INVALID_ARGUMENT: an empty data set, no hosted rank, another number of
  // models, or more samples a step than memory allows to address.
  static absl::StatusOr<std::unique_ptr<Trainer>> Create(Config config, const Dataset* data,
                                                         const BucketPlan* plan,
                                                         const std::vector<Model*>& models);

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

  // The synchronizer went back to the parameters after `step`: Run trains again from there on.
  void GoBack(int64_t step) { step_ = step; }

  // The buffers of the model as a hosted rank has them; RankPlayer::Buffers. Not during Run, but
  // for `on_step`.
  absl::StatusOr<BufferValues> Buffers(int rank) const;
  // Gives all hosted ranks the same.
  absl::Status SetBuffers(const BufferValues& values);

  int64_t total_steps() const { return total_steps_; }
  // The step that is running or was the last to run; 0 before the first.
  int64_t step() const { return step_; }
  // The current parameters.
  absl::Span<const float> parameters() const { return parameters_->span(); }
  // Of the ranks that are played in turn. Lives as long as the trainer.
  const Arena& gradients() const { return players_.front()->gradients(); }

 private:
  Trainer(Config config, std::unique_ptr<Arena> parameters,
          std::vector<std::unique_ptr<RankPlayer>> players, int64_t total_steps);

  // Returns the step after which the parameters are.
  absl::StatusOr<int64_t> RunStep(StepRecord* record);
  RankPlayer* PlayerOf(int rank) const;
  // Those of all hosted ranks, to be restored where the step is skipped; none where that is not
  // asked for. A forward pass moves them long before anybody knows.
  absl::Status SaveBuffers();
  absl::Status RestoreBuffers();
  void Trace(absl::Duration begin, absl::Duration end, const StepStats& stats) const;
  absl::Status PlayInTurn(StepRecord* record);
  absl::Status PlayAtOnce(StepRecord* record);

  // Constant after construction.
  const Config config_;
  const std::unique_ptr<Arena> parameters_;
  const std::vector<std::unique_ptr<RankPlayer>> players_;  // one, or one for each hosted rank
  const int64_t total_steps_;

  std::unique_ptr<RankThreads> threads_;  // null: ranks are played in turn
  GradientSynchronizer* synchronizer_ = nullptr;
  int64_t step_ = 0;
  std::vector<BufferValues> saved_buffers_;  // by hosted rank, as before the step
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_TRAINER_H_
