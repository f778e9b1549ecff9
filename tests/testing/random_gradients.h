// Plans and gradients for tests of strategies: reproducible, with values whose sum depends on the
// order of addition.
#ifndef RINGSIDE_TESTS_TESTING_RANDOM_GRADIENTS_H_
#define RINGSIDE_TESTS_TESTING_RANDOM_GRADIENTS_H_

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "common/bucket_plan.h"
#include "common/reduction.h"

namespace ringside {

// A plan with one bucket for each entry, of that many elements; bucket 0 is the first entry.
inline BucketPlan PlanWithBuckets(const std::vector<int64_t>& buckets) {
  std::vector<ParameterSpec> parameters;
  for (auto elements = buckets.rbegin(); elements != buckets.rend(); ++elements) {
    parameters.push_back({"p" + std::to_string(parameters.size()), {*elements}, "float32"});
  }
  return BucketPlan::Create(parameters, 1, 1).value();
}

// The whole arena of one rank at one step.
inline std::vector<float> RandomGradients(int64_t elements, int rank, int64_t step) {
  std::mt19937 random(static_cast<unsigned>(rank * 7919 + step * 104729 + 1));
  std::vector<float> values(elements);
  for (float& value : values) {
    const int exponent = static_cast<int>(random() % 24) - 12;
    const float mantissa = static_cast<float>(random() % 2000003) - 1000001.0f;
    value = std::ldexp(mantissa, exponent);
  }
  return values;
}

// What every strategy must give, bit by bit: each bucket folded in law order.
inline std::vector<float> LawfulSums(const BucketPlan& plan, int world_size, int64_t step) {
  std::vector<std::vector<float>> gradients;
  for (int rank = 0; rank < world_size; ++rank) {
    gradients.push_back(RandomGradients(plan.total_elements(), rank, step));
  }
  std::vector<float> sums(plan.total_elements());
  for (int bucket = 0; bucket < plan.size(); ++bucket) {
    const ElementRange& range = plan.bucket(bucket);
    std::vector<absl::Span<const float>> parts;
    for (const std::vector<float>& own : gradients) {
      parts.push_back(absl::MakeConstSpan(own).subspan(range.begin, range.length));
    }
    FoldInLawOrder(parts, absl::MakeSpan(sums).subspan(range.begin, range.length));
  }
  return sums;
}

inline bool SameBits(absl::Span<const float> a, absl::Span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace ringside

#endif  // RINGSIDE_TESTS_TESTING_RANDOM_GRADIENTS_H_
