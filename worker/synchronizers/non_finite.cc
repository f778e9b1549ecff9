#include "worker/synchronizers/non_finite.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/check.h"
#include "common/gradient_norm.h"
#include "common/suspects.h"

namespace ringside {
namespace {

// The parameter that has this element of the arena.
int ParameterAt(const BucketPlan& plan, int64_t element) {
  int parameter = 0;
  while (plan.parameter(parameter).end() <= element) ++parameter;
  return parameter;
}

std::string Place(const BucketPlan& plan, int parameter, int64_t element, float value) {
  return absl::StrCat(std::isnan(value) ? "nan" : absl::StrCat(value), " in ",
                      plan.spec(parameter).name, ", element ", element);
}

// The first place in a flat buffer in arena order that is not finite, in words.
std::string FirstPlace(const BucketPlan& plan, absl::Span<const float> values) {
  const int64_t at = FindNonFinite(values).first;
  RINGSIDE_CHECK(at >= 0);
  const int parameter = ParameterAt(plan, at);
  return Place(plan, parameter, at - plan.parameter(parameter).begin, values[at]);
}

}  // namespace

NonFiniteGradients FindNonFiniteGradients(const BucketPlan& plan, const GradientSummer& summer,
                                          const std::vector<GradientBucket>& submitted) {
  struct Found {
    int64_t first = 0;  // in the arena
    float value = 0;
    int64_t count = 0;
  };
  std::map<int, Found> by_rank;
  for (const GradientBucket& bucket : submitted) {
    const absl::Span<const float> gradients = summer.Submitted(bucket);
    const NonFinite here = FindNonFinite(gradients);
    if (here.count == 0) continue;
    Found& found = by_rank[bucket.rank];
    const int64_t first = plan.bucket(bucket.bucket).begin + here.first;
    if (found.count == 0 || first < found.first) {
      found.first = first;
      found.value = gradients[here.first];
    }
    found.count += here.count;
  }
  NonFiniteGradients all;
  for (const auto& [rank, found] : by_rank) {
    NonFiniteGradient& gradient = *all.add_gradients();
    const int parameter = ParameterAt(plan, found.first);
    gradient.set_rank(rank);
    gradient.set_parameter(parameter);
    gradient.set_element(found.first - plan.parameter(parameter).begin);
    gradient.set_value(found.value);
    gradient.set_elements(found.count);
  }
  return all;
}

std::string DescribeNonFinite(const BucketPlan& plan, int64_t step, const NonFiniteGradients& found,
                              absl::Span<const float> sums, const absl::Status& unasked) {
  const std::string alone =
      unasked.ok() ? "" : absl::StrCat("no other worker was asked: ", unasked.message());
  if (found.gradients().empty() && !alone.empty()) {
    return absl::StrCat("step ", step,
                        ": the sum of all gradients is not finite: ", FirstPlace(plan, sums),
                        "; this worker's own is, and ", alone);
  }
  if (found.gradients().empty()) {
    return absl::StrCat("step ", step,
                        ": the sum of all gradients is not finite though every worker's own is, so "
                        "it overflowed: ",
                        FirstPlace(plan, sums));
  }
  std::vector<std::string> parts;
  for (const NonFiniteGradient& gradient : found.gradients()) {
    // From another process: nothing that is written down of it may go astray here.
    const int parameter = std::min(std::max(gradient.parameter(), 0), plan.num_parameters() - 1);
    parts.push_back(absl::StrCat(
        "the gradient of worker ", gradient.rank(),
        " is not finite: ", Place(plan, parameter, gradient.element(), gradient.value()), "; ",
        gradient.elements(), gradient.elements() == 1 ? " element" : " elements", " in all"));
  }
  if (!alone.empty()) parts.push_back(alone);
  return absl::StrCat("step ", step, ": ", absl::StrJoin(parts, "; "));
}

absl::Status NonFiniteError(const std::vector<int>& hosted_ranks, const NonFiniteGradients& found,
                            const std::string& line, const absl::Status& unasked) {
  std::vector<MemberId> suspects;
  if (found.gradients().empty()) {
    for (const MemberId& worker : SuspectsOf(unasked)) {
      if (std::count(hosted_ranks.begin(), hosted_ranks.end(), worker.rank()) == 0) {
        suspects.push_back(worker);
      }
    }
  }
  for (const NonFiniteGradient& gradient : found.gradients()) {
    if (std::count(hosted_ranks.begin(), hosted_ranks.end(), gradient.rank()) > 0) {
      return absl::DataLossError(line);
    }
    suspects.push_back(WorkerId(gradient.rank()));
  }
  return WithSuspects(absl::DataLossError(line), suspects);
}

absl::Status CheckInitialParameters(const BucketPlan& plan, const std::vector<int>& hosted_ranks,
                                    absl::Span<const float> parameters) {
  if (std::isfinite(SumOfSquares(parameters))) return absl::OkStatus();
  const std::string line = absl::StrCat(
      "the initial parameters, those of worker 0, are not finite: ", FirstPlace(plan, parameters));
  NonFiniteGradients found;
  found.add_gradients()->set_rank(0);
  return NonFiniteError(hosted_ranks, found, line);
}

absl::Status CheckBucket(const BucketPlan& plan, const GradientBucket& bucket) {
  if (std::isfinite(SumOfSquares(bucket.gradients))) return absl::OkStatus();
  const NonFinite here = FindNonFinite(bucket.gradients);
  const int64_t at = plan.bucket(bucket.bucket).begin + here.first;
  const int parameter = ParameterAt(plan, at);
  return absl::DataLossError(absl::StrCat(
      "step ", bucket.step, ": the gradient of worker ", bucket.rank, " is not finite: ",
      Place(plan, parameter, at - plan.parameter(parameter).begin, bucket.gradients[here.first])));
}

}  // namespace ringside
