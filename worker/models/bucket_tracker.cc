#include "worker/models/bucket_tracker.h"

#include <algorithm>
#include <utility>

#include "common/check.h"

namespace ringside {
namespace {

std::vector<int> BucketOfParameter(const BucketPlan& plan) {
  std::vector<int> buckets;
  for (int i = 0; i < plan.num_parameters(); ++i) buckets.push_back(plan.bucket_of_parameter(i));
  return buckets;
}

std::vector<int> CountPerBucket(const BucketPlan& plan) {
  std::vector<int> counts(plan.size(), 0);
  for (int i = 0; i < plan.num_parameters(); ++i) ++counts[plan.bucket_of_parameter(i)];
  return counts;
}

}  // namespace

BucketTracker::BucketTracker(const BucketPlan& plan, std::function<void(int bucket)> emit,
                             std::function<void(int bucket)> full)
    : bucket_of_parameter_(BucketOfParameter(plan)),
      parameters_in_bucket_(CountPerBucket(plan)),
      emit_(std::move(emit)),
      full_(std::move(full)),
      missing_(parameters_in_bucket_),
      ready_(bucket_of_parameter_.size(), 0) {}

void BucketTracker::Reset() {
  std::copy(parameters_in_bucket_.begin(), parameters_in_bucket_.end(), missing_.begin());
  std::fill(ready_.begin(), ready_.end(), 0);
  next_ = 0;
}

void BucketTracker::ParameterReady(int parameter) {
  RINGSIDE_CHECK(!ready_[parameter]);
  ready_[parameter] = 1;
  const int bucket = bucket_of_parameter_[parameter];
  if (--missing_[bucket] == 0 && full_ != nullptr) full_(bucket);
  while (next_ < static_cast<int>(missing_.size()) && missing_[next_] == 0) emit_(next_++);
}

void BucketTracker::Flush() {
  while (next_ < static_cast<int>(missing_.size())) emit_(next_++);
}

}  // namespace ringside
