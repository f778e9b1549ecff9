// A GradientSynchronizer for all synchronous strategies: a GradientSummer sums, every process runs
// the same optimizer.
// Start is one more exchange (initial_broadcast.h).
//
// A gradient that is not finite (a NaN or infinity on any rank, or an overflow of the sum) is seen
// by all ranks in the same step. By default all of them end with one error, which names ranks,
// step, parameter and element (non_finite.h); parameters may then be updated in part. Or all skip
// the step: parameters and optimizer stay as they were, and the update is not counted (which
// matters to Adam's corrections); the schedule of the learning rate goes on.
#ifndef RINGSIDE_WORKER_SYNCHRONIZERS_SYNCHRONOUS_UPDATE_H_
#define RINGSIDE_WORKER_SYNCHRONIZERS_SYNCHRONOUS_UPDATE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/bucket_plan.h"
#include "common/learning_rate.h"
#include "common/mutex.h"
#include "common/optimizer.h"
#include "worker/synchronizers/gradient_summer.h"
#include "worker/synchronizers/gradient_synchronizer.h"
#include "worker/synchronizers/initial_broadcast.h"
#include "worker/synchronizers/non_finite.h"
#include "worker/synchronizers/update_state.h"
#include "worker/synchronizers/whole_update.h"

namespace ringside {

class SynchronousUpdate final : public GradientSynchronizer {
 public:
  struct Config {
    BucketPlan plan;
    std::vector<int> hosted_ranks;  // ranks that this process submits for, ascending
    OptimizerConfig optimizer;
    std::unique_ptr<GradientSummer> summer;
    LearningRateConfig learning_rate = {};  // the schedule; its base is the optimizer's rate
    double clip_norm = 0;                   // whole_update.h
    bool skip_nonfinite = false;
    std::unique_ptr<NonFiniteCensus> census = nullptr;  // null: this process hosts all ranks
    int64_t resumed_step = 0;  // that Start's parameters are of; the next is the first to finish
  };

  // A job ends after so many skipped steps in a row: it does not recover.
  static constexpr int kMostSkippedInARow = 100;

  // INVALID_ARGUMENT: no hosted rank, or an optimizer or schedule that does not validate.
  // RESOURCE_EXHAUSTED: no memory for its state.
  static absl::StatusOr<std::unique_ptr<SynchronousUpdate>> Create(Config config);

  // To be saved after a Finish and restored before Start.
  UpdateState State() { return {optimizer_->State(), absl::MakeSpan(&skipped_steps_, 1)}; }

  // INVALID_ARGUMENT: the length is not the plan's. DATA_LOSS: rank 0's parameters are not finite.
  // Otherwise the summer's errors.
  absl::Status Start(absl::Span<float> parameters) override;
  void Submit(const GradientBucket& bucket) override;
  // FAILED_PRECONDITION: Start has not succeeded. DATA_LOSS: a gradient is not finite, or as many
  // as kMostSkippedInARow were not. Otherwise the summer's or the census's errors.
  absl::StatusOr<StepStats> Finish(int64_t step) override;
  void Abort(absl::Status cause) override;
  absl::StatusOr<absl::optional<int64_t>> Shutdown() override;
  TrafficCounters traffic() const override;
  TrafficCounters ExpectedTraffic(int64_t steps) const override;
  // Steps whose update no rank applied; from the thread that calls Finish.
  int64_t skipped_steps() const { return skipped_steps_; }

 private:
  SynchronousUpdate(Config config, std::unique_ptr<Optimizer> optimizer,
                    const LearningRateSchedule& learning_rate);

  // `sums` of `step` are not finite. Returns why the step is skipped, or the error to end with.
  absl::StatusOr<std::string> JudgeNonFinite(int64_t step, absl::Span<const float> sums);
  NonFiniteGradients OwnNonFinite() const;
  absl::StatusOr<NonFiniteGradients> AskAllRanks(int64_t step, const NonFiniteGradients& own);

  // Constant after construction, but for the broadcast.
  const BucketPlan plan_;
  const std::vector<int> hosted_ranks_;
  const int64_t resumed_step_;
  InitialBroadcast broadcast_;  // kept where Start fails, since a link may still read it
  const std::unique_ptr<GradientSummer> summer_;  // keeps the sticky error, guarded by itself
  const std::unique_ptr<Optimizer> optimizer_;
  const LearningRateSchedule learning_rate_;
  const bool skip_nonfinite_;
  const std::unique_ptr<NonFiniteCensus> census_;

  // Of the calling thread.
  WholeUpdate update_;
  absl::Span<float> parameters_;
  int64_t skipped_steps_ = 0;
  int skipped_in_a_row_ = 0;

  mutable Mutex mutex_;  // ranks that are played at once submit at once
  std::vector<GradientBucket> submitted_ ABSL_GUARDED_BY(mutex_);  // of the open step
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_SYNCHRONIZERS_SYNCHRONOUS_UPDATE_H_
