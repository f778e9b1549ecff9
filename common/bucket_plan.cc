#include "common/bucket_plan.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/sha256.h"

namespace ringside {

absl::StatusOr<BucketPlan> BucketPlan::Create(const std::vector<ParameterSpec>& parameters,
                                              int64_t first_bucket_bytes, int64_t bucket_bytes) {
  if (parameters.empty()) return absl::InvalidArgumentError("the model has no parameters");
  if (first_bucket_bytes < 1 || bucket_bytes < 1) {
    return absl::InvalidArgumentError(absl::StrCat("bucket sizes must be at least 1 byte, not ",
                                                   first_bucket_bytes, " and ", bucket_bytes));
  }
  BucketPlan plan;
  std::string description;
  for (const ParameterSpec& parameter : parameters) {
    if (parameter.elements() < 1 || parameter.dtype != "float32") {
      return absl::InvalidArgumentError(
          absl::StrCat("parameter ", ToString(parameter),
                       " cannot be synchronized: it must be float32 and not empty"));
    }
    plan.parameters_.push_back({plan.total_elements_, parameter.elements()});
    plan.total_elements_ += parameter.elements();
    absl::StrAppend(&description, ToString(parameter), "\n");
  }
  plan.bucket_of_parameter_.resize(parameters.size());
  ElementRange open{plan.total_elements_, 0};
  for (int i = plan.num_parameters() - 1; i >= 0; --i) {
    plan.bucket_of_parameter_[i] = plan.size();
    open = {plan.parameters_[i].begin, open.end() - plan.parameters_[i].begin};
    const int64_t limit = plan.buckets_.empty() ? first_bucket_bytes : bucket_bytes;
    const bool full = open.length * static_cast<int64_t>(sizeof(float)) >= limit;
    if (full || i == 0) {
      plan.buckets_.push_back(open);
      absl::StrAppend(&description, open.begin, "+", open.length, "\n");
      open = {open.begin, 0};
    }
  }
  plan.specs_ = parameters;
  plan.hash_ = Sha256Hex(description);
  return plan;
}

std::vector<int64_t> BucketPlan::lengths() const {
  std::vector<int64_t> lengths;
  for (const ElementRange& bucket : buckets_) lengths.push_back(bucket.length);
  return lengths;
}

}  // namespace ringside
