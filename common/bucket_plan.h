// How parameters are grouped into buckets, the unit that is submitted for synchronization.
//
// Parameters lie one after another in a flat arena, in model order and without padding. Buckets are
// formed from the last parameter backwards, because backward produces gradients in that order:
// bucket 0 holds the last parameters. A bucket is a contiguous range of the arena, never splits a
// parameter, and is closed once it has reached its size. The first bucket has a smaller size of its
// own, so that communication starts early.
//
// A plan is a pure function of the parameter list and the two sizes, never of strategy, link,
// shards or anything measured: its hash is compared when ranks join. Immutable after construction,
// so free to share between threads.
#ifndef RINGSIDE_COMMON_BUCKET_PLAN_H_
#define RINGSIDE_COMMON_BUCKET_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/element_range.h"
#include "common/parameter_spec.h"

namespace ringside {

class BucketPlan {
 public:
  // INVALID_ARGUMENT: no parameters, a parameter without elements or not float32, or a size below 1
  // byte.
  static absl::StatusOr<BucketPlan> Create(const std::vector<ParameterSpec>& parameters,
                                           int64_t first_bucket_bytes, int64_t bucket_bytes);

  int size() const { return static_cast<int>(buckets_.size()); }
  const ElementRange& bucket(int index) const { return buckets_[index]; }
  // Of the buckets, in their order.
  std::vector<int64_t> lengths() const;
  int64_t total_elements() const { return total_elements_; }
  int num_parameters() const { return static_cast<int>(parameters_.size()); }
  // The range of parameter `index` (model order) in the arena, and the bucket that holds it.
  const ElementRange& parameter(int index) const { return parameters_[index]; }
  const ParameterSpec& spec(int index) const { return specs_[index]; }
  const std::vector<ParameterSpec>& specs() const { return specs_; }
  int bucket_of_parameter(int index) const { return bucket_of_parameter_[index]; }
  // SHA-256 over the parameter list and the ranges, in hexadecimal.
  const std::string& hash() const { return hash_; }

 private:
  BucketPlan() = default;

  std::vector<ElementRange> buckets_;
  std::vector<ElementRange> parameters_;
  std::vector<ParameterSpec> specs_;
  std::vector<int> bucket_of_parameter_;
  int64_t total_elements_ = 0;
  std::string hash_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_BUCKET_PLAN_H_
