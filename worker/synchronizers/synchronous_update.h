// A GradientSynchronizer for all synchronous strategies: a GradientSummer sums, every process runs
// the same optimizer.
// Start is one more exchange (initial_broadcast.h).
#ifndef RINGSIDE_WORKER_SYNCHRONIZERS_SYNCHRONOUS_UPDATE_H_
#define RINGSIDE_WORKER_SYNCHRONIZERS_SYNCHRONOUS_UPDATE_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "common/bucket_plan.h"
#include "common/learning_rate.h"
#include "common/optimizer.h"
#include "worker/synchronizers/gradient_summer.h"
#include "worker/synchronizers/gradient_synchronizer.h"
#include "worker/synchronizers/initial_broadcast.h"

namespace ringside {

class SynchronousUpdate final : public GradientSynchronizer {
 public:
  struct Config {
    BucketPlan plan;
    std::vector<int> hosted_ranks;  // ranks that this process submits for, ascending
    OptimizerConfig optimizer;
    std::unique_ptr<GradientSummer> summer;
    LearningRateConfig learning_rate = {};  // the schedule; its base is the optimizer's rate
    int64_t resumed_step =
        0;  // that Start's parameters are of; the first to be finished is the next
  };

  // INVALID_ARGUMENT: no hosted rank, or an optimizer or schedule that does not validate.
  // RESOURCE_EXHAUSTED: no memory for its state.
  static absl::StatusOr<std::unique_ptr<SynchronousUpdate>> Create(Config config);

  // As Optimizer::State, to be saved after a Finish and restored before Start.
  std::vector<absl::Span<float>> OptimizerState() { return optimizer_->State(); }

  // INVALID_ARGUMENT: the length is not the plan's. Otherwise the summer's errors.
  absl::Status Start(absl::Span<float> parameters) override;
  void Submit(const GradientBucket& bucket) override;
  // FAILED_PRECONDITION: Start has not succeeded. Otherwise the summer's errors.
  absl::StatusOr<StepStats> Finish(int64_t step) override;
  void Abort(absl::Status cause) override;
  absl::Status Shutdown() override;
  TrafficCounters traffic() const override;
  TrafficCounters ExpectedTraffic(int64_t steps) const override;

 private:
  SynchronousUpdate(Config config, std::unique_ptr<Optimizer> optimizer,
                    const LearningRateSchedule& learning_rate);

  // Constant after construction, but for the broadcast.
  const BucketPlan plan_;
  const std::vector<int> hosted_ranks_;
  const int64_t resumed_step_;
  InitialBroadcast broadcast_;  // kept where Start fails, since a link may still read it
  const std::unique_ptr<GradientSummer> summer_;  // keeps the sticky error, guarded by itself
  const std::unique_ptr<Optimizer> optimizer_;
  const LearningRateSchedule learning_rate_;

  // Of the calling thread.
  absl::Span<float> parameters_;
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_SYNCHRONIZERS_SYNCHRONOUS_UPDATE_H_
