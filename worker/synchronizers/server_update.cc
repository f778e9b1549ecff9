#include "worker/synchronizers/server_update.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/coordinator/monotonic_clock.h"
#include "common/reduction.h"
#include "common/status_macros.h"

namespace ringside {

ServerUpdate::ServerUpdate(BucketPlan plan, int rank, std::unique_ptr<PsExchange> exchange)
    : plan_(std::move(plan)), rank_(rank), exchange_(std::move(exchange)) {}

absl::Status ServerUpdate::Start(absl::Span<float> parameters) {
  if (static_cast<int64_t>(parameters.size()) != plan_.total_elements()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "Start with ", parameters.size(), " parameters, the plan has ", plan_.total_elements()));
  }
  // x + -0.0 is x in every bit, so the sum is worker 0's parameters.
  RINGSIDE_ASSIGN_OR_RETURN(negative_zeros_,
                            Arena::Create(plan_.total_elements(), Arena::Placement::kHeap));
  std::fill(negative_zeros_->span().begin(), negative_zeros_->span().end(), -0.0f);
  const absl::Span<const float> values =
      rank_ == 0 ? absl::MakeConstSpan(parameters) : negative_zeros_->span();
  for (int bucket = 0; bucket < plan_.size(); ++bucket) {
    const ElementRange& range = plan_.bucket(bucket);
    exchange_->Submit({0, rank_, bucket, values.subspan(range.begin, range.length), 0});
  }
  RINGSIDE_RETURN_IF_ERROR(exchange_->Finish(0).status());
  parameters_ = parameters;
  TakeResults();
  negative_zeros_.reset();
  return absl::OkStatus();
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

absl::Status ServerUpdate::Shutdown() {
  RINGSIDE_RETURN_IF_ERROR(exchange_->Shutdown());
  if (!parameters_.empty()) TakeResults();
  return absl::OkStatus();
}

void ServerUpdate::TakeResults() { Copy(exchange_->results(), parameters_); }

}  // namespace ringside
