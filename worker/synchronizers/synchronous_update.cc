#include "worker/synchronizers/synchronous_update.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/coordinator/monotonic_clock.h"
#include "common/logging.h"
#include "common/status_macros.h"

namespace ringside {
absl::StatusOr<std::unique_ptr<SynchronousUpdate>> SynchronousUpdate::Create(Config config) {
  if (config.hosted_ranks.empty()) {
    return absl::InvalidArgumentError("a synchronizer must host at least one rank");
  }
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<Optimizer> optimizer,
                            Optimizer::Create(config.optimizer, config.plan.specs()));
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
      learning_rate_(learning_rate),
      skip_nonfinite_(config.skip_nonfinite),
      census_(std::move(config.census)),
      update_({config.clip_norm, config.skip_nonfinite}, &plan_, optimizer_.get()) {}

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
  RINGSIDE_RETURN_IF_ERROR(CheckInitialParameters(plan_, hosted_ranks_, parameters));
  parameters_ = parameters;
  return absl::OkStatus();
}

void SynchronousUpdate::Submit(const GradientBucket& bucket) {
  {
    MutexLock lock(&mutex_);
    submitted_.push_back(bucket);
  }
  summer_->Submit(bucket);
}

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
  const bool applied =
      update_.Apply(step - skipped_steps_, learning_rate_.At(step), sums, parameters_);
  stats.optimizer = MonotonicNow() - summed;
  if (applied) {
    skipped_in_a_row_ = 0;
  } else {
    absl::StatusOr<std::string> skipped = JudgeNonFinite(step, sums);
    if (!skipped.ok()) summer_->Abort(skipped.status());  // which makes it the sticky error
    RINGSIDE_RETURN_IF_ERROR(skipped.status());
    stats.skipped = *std::move(skipped);
  }
  MutexLock lock(&mutex_);
  submitted_.clear();
  return stats;
}

absl::StatusOr<std::string> SynchronousUpdate::JudgeNonFinite(int64_t step,
                                                              absl::Span<const float> sums) {
  NonFiniteGradients found = OwnNonFinite();
  const bool own = !found.gradients().empty();
  absl::StatusOr<NonFiniteGradients> all = AskAllRanks(step, found);
  if (!all.ok() && !absl::IsAborted(all.status())) return all.status();
  if (all.ok()) found = *std::move(all);
  std::string line = DescribeNonFinite(plan_, step, found, sums, all.status());
  if (!skip_nonfinite_) return NonFiniteError(hosted_ranks_, found, line, all.status());
  // Rank 0 tells all that is known; of what it does not know whoever does.
  if (!all.ok() && own && hosted_ranks_.front() != 0) LogWarning(line);
  ++skipped_steps_;
  if (++skipped_in_a_row_ < kMostSkippedInARow) return line;
  return NonFiniteError(
      hosted_ranks_, found,
      absl::StrCat(skipped_in_a_row_, " steps in a row were skipped; the last: ", line),
      all.status());
}

NonFiniteGradients SynchronousUpdate::OwnNonFinite() const {
  std::vector<GradientBucket> submitted;
  {
    MutexLock lock(&mutex_);
    submitted = submitted_;
  }
  // By rank, however their threads took turns.
  std::stable_sort(
      submitted.begin(), submitted.end(),
      [](const GradientBucket& a, const GradientBucket& b) { return a.rank < b.rank; });
  return FindNonFiniteGradients(plan_, *summer_, submitted);
}

absl::StatusOr<NonFiniteGradients> SynchronousUpdate::AskAllRanks(int64_t step,
                                                                  const NonFiniteGradients& own) {
  if (census_ == nullptr) return own;
  RINGSIDE_ASSIGN_OR_RETURN(const std::vector<std::string> answers,
                            census_->Ask(step, own.SerializeAsString()));
  NonFiniteGradients all;
  for (size_t process = 0; process < answers.size(); ++process) {
    NonFiniteGradients part;
    if (!part.ParseFromString(answers[process])) {
      return absl::InternalError(absl::StrCat("step ", step, ": what worker process ", process,
                                              " says of its gradients cannot be read"));
    }
    all.MergeFrom(part);
  }
  return all;
}

void SynchronousUpdate::Abort(absl::Status cause) { summer_->Abort(std::move(cause)); }

absl::StatusOr<absl::optional<int64_t>> SynchronousUpdate::Shutdown() {
  RINGSIDE_RETURN_IF_ERROR(summer_->Shutdown());
  return absl::optional<int64_t>();  // what a summer loses it sums again
}

TrafficCounters SynchronousUpdate::traffic() const { return summer_->traffic(); }

TrafficCounters SynchronousUpdate::ExpectedTraffic(int64_t steps) const {
  return summer_->ExpectedTraffic(steps + 1);
}

}  // namespace ringside
