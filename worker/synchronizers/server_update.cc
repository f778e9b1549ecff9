#include "worker/synchronizers/server_update.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/coordinator/monotonic_clock.h"
#include "common/reduction.h"
#include "common/status_macros.h"
#include "worker/synchronizers/non_finite.h"

namespace ringside {

ServerUpdate::ServerUpdate(BucketPlan plan, int rank, std::unique_ptr<PsExchange> exchange)
    : plan_(std::move(plan)), rank_(rank), exchange_(std::move(exchange)) {}

absl::Status ServerUpdate::Start(absl::Span<float> parameters) {
  RINGSIDE_RETURN_IF_ERROR(
      broadcast_.Submit(plan_, {rank_}, parameters,
                        [this](const GradientBucket& bucket) { exchange_->Submit(bucket); }));
  RINGSIDE_RETURN_IF_ERROR(exchange_->Finish(0).status());
  Copy(exchange_->results(), parameters);
  broadcast_.Release();
  RINGSIDE_RETURN_IF_ERROR(CheckInitialParameters(plan_, {rank_}, parameters));
  parameters_ = parameters;
  return absl::OkStatus();
}

void ServerUpdate::Submit(const GradientBucket& bucket) {
  const absl::Status finite = CheckBucket(plan_, bucket);
  if (!finite.ok()) return exchange_->Abort(finite);
  exchange_->Submit(bucket);
}

absl::StatusOr<StepStats> ServerUpdate::Finish(int64_t step) {
  if (parameters_.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("step ", step, " before the parameters were started"));
  }
  StepStats stats;
  RINGSIDE_ASSIGN_OR_RETURN(stats.parameters_step, exchange_->Finish(step));
  stats.communication = exchange_->communication();
  const absl::Time received = MonotonicNow();
  TakeResults();
  stats.optimizer = MonotonicNow() - received;
  return stats;
}

absl::StatusOr<absl::optional<int64_t>> ServerUpdate::Shutdown() {
  RINGSIDE_ASSIGN_OR_RETURN(const absl::optional<int64_t> back, exchange_->Shutdown());
  if (!parameters_.empty()) TakeResults();
  return back;
}

void ServerUpdate::TakeResults() { Copy(exchange_->results(), parameters_); }

}  // namespace ringside
