// Who it was when a gradient has a NaN or an infinity: found, gathered from all ranks, and said.
//
// IEEE addition carries either into the sum, which is the same on all ranks; so all of them see it
// in the same step and decide alike, without a word on the wire. Only then do they ask each other.
#ifndef RINGSIDE_WORKER_SYNCHRONIZERS_NON_FINITE_H_
#define RINGSIDE_WORKER_SYNCHRONIZERS_NON_FINITE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/bucket_plan.h"
#include "non_finite.pb.h"
#include "worker/synchronizers/gradient_summer.h"
#include "worker/synchronizers/gradient_synchronizer.h"

namespace ringside {

// How the processes of a job ask each other.
class NonFiniteCensus {
 public:
  virtual ~NonFiniteCensus() = default;

  // Called by every process for the same step, at most once for each. Blocks until all have
  // answered, and returns all answers by rank of the process. Errors name who is missing. ABORTED:
  // there is no census of this step, for nobody; the suspects are all who would have been asked.
  virtual absl::StatusOr<std::vector<std::string>> Ask(int64_t step, const std::string& own) = 0;
};

// What is not finite in the buckets that this process submitted (any order); `summer` has their
// gradients.
NonFiniteGradients FindNonFiniteGradients(const BucketPlan& plan, const GradientSummer& summer,
                                          const std::vector<GradientBucket>& submitted);

// One line for people: "step 7: the gradient of worker 1 is not finite: nan in fc2.bias, element 3;
// 12 elements in all". Where all gradients are finite it was the addition that was not, and the
// line says where in `sums`. `unasked`, where it is not OK: why `found` is of this process alone.
std::string DescribeNonFinite(const BucketPlan& plan, int64_t step, const NonFiniteGradients& found,
                              absl::Span<const float> sums,
                              const absl::Status& unasked = absl::OkStatus());

// DATA_LOSS with DescribeNonFinite's line. Its suspects are the workers that it names, but none on
// a process that hosts one of them, or where it was the addition: that process itself failed. Where
// this process has found nothing and the others were not asked, it may have been any of them.
absl::Status NonFiniteError(const std::vector<int>& hosted_ranks, const NonFiniteGradients& found,
                            const std::string& line,
                            const absl::Status& unasked = absl::OkStatus());

// OK where the initial parameters, which are worker 0's, are finite. DATA_LOSS: names the first
// that is not; the suspect is worker 0, but on its own process.
absl::Status CheckInitialParameters(const BucketPlan& plan, const std::vector<int>& hosted_ranks,
                                    absl::Span<const float> parameters);

// OK where one bucket is finite, before it is summed with others. DATA_LOSS otherwise.
absl::Status CheckBucket(const BucketPlan& plan, const GradientBucket& bucket);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_SYNCHRONIZERS_NON_FINITE_H_
