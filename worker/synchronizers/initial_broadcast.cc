#include "worker/synchronizers/initial_broadcast.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace ringside {

absl::Status InitialBroadcast::Submit(const BucketPlan& plan, const std::vector<int>& hosted_ranks,
                                      absl::Span<const float> parameters,
                                      const std::function<void(const GradientBucket&)>& submit) {
  if (static_cast<int64_t>(parameters.size()) != plan.total_elements()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "Start with ", parameters.size(), " parameters, the plan has ", plan.total_elements()));
  }
  RINGSIDE_ASSIGN_OR_RETURN(negative_zeros_,
                            Arena::Create(plan.total_elements(), Arena::Placement::kHeap));
  std::fill(negative_zeros_->span().begin(), negative_zeros_->span().end(), -0.0f);
  for (int rank : hosted_ranks) {
    const absl::Span<const float> values = rank == 0 ? parameters : negative_zeros_->span();
    for (int bucket = 0; bucket < plan.size(); ++bucket) {
      const ElementRange& range = plan.bucket(bucket);
      submit({0, rank, bucket, values.subspan(range.begin, range.length), 0});
    }
  }
  return absl::OkStatus();
}

}  // namespace ringside
