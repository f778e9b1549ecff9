#include "worker/synchronizers/synchronous_update.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/coordinator/monotonic_clock.h"
#include "common/status_macros.h"

namespace ringside {
absl::StatusOr<std::unique_ptr<SynchronousUpdate>> SynchronousUpdate::Create(Config config) {
  if (config.hosted_ranks.empty()) {
    return absl::InvalidArgumentError("a synchronizer must host at least one rank");
  }
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<Optimizer> optimizer,
                            Optimizer::Create(config.optimizer, config.plan.total_elements()));
  RINGSIDE_ASSIGN_OR_RETURN(
      const LearningRateSchedule learning_rate,
      LearningRateSchedule::Create(config.learning_rate, config.optimizer.learning_rate));
  return absl::WrapUnique(
      new SynchronousUpdate(std::move(config), std::move(optimizer), learning_rate));
}

SynchronousUpdate::SynchronousUpdate(Config config, std::unique_ptr<Optimizer> optimizer,
                                     const LearningRateSchedule& learning_rate)
    : plan_(std::move(config.plan)),
      hosted_ranks_(std::move(config.hosted_ranks)),
      resumed_step_(config.resumed_step),
      summer_(std::move(config.summer)),
      optimizer_(std::move(optimizer)),
      learning_rate_(learning_rate) {}

absl::Status SynchronousUpdate::Start(absl::Span<float> parameters) {
  // The broadcast takes the place of the step that the parameters are of.
  const auto submit = [this](GradientBucket bucket) {
    bucket.step = resumed_step_;
    summer_->Submit(bucket);
  };
  RINGSIDE_RETURN_IF_ERROR(broadcast_.Submit(plan_, hosted_ranks_, parameters, submit));
  RINGSIDE_ASSIGN_OR_RETURN(const absl::Span<const float> sums, summer_->Finish(resumed_step_));
  std::copy(sums.begin(), sums.end(), parameters.begin());
  broadcast_.Release();
  parameters_ = parameters;
  return absl::OkStatus();
}

void SynchronousUpdate::Submit(const GradientBucket& bucket) { summer_->Submit(bucket); }

absl::StatusOr<StepStats> SynchronousUpdate::Finish(int64_t step) {
  if (parameters_.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("step ", step, " before the parameters were started"));
  }
  StepStats stats;
  RINGSIDE_ASSIGN_OR_RETURN(const absl::Span<const float> sums, summer_->Finish(step));
  stats.parameters_step = step;
  stats.communication = summer_->communication();
  const absl::Time summed = MonotonicNow();
  optimizer_->Apply(step, learning_rate_.At(step), sums, parameters_);
  stats.optimizer = MonotonicNow() - summed;
  return stats;
}

void SynchronousUpdate::Abort(absl::Status cause) { summer_->Abort(std::move(cause)); }

absl::Status SynchronousUpdate::Shutdown() { return summer_->Shutdown(); }

TrafficCounters SynchronousUpdate::traffic() const { return summer_->traffic(); }

TrafficCounters SynchronousUpdate::ExpectedTraffic(int64_t steps) const {
  return summer_->ExpectedTraffic(steps + 1);
}

}  // namespace ringside
