// The strategy `local`: one process plays all ranks in turn. It is the oracle that the other
// strategies are compared with.
//
// A played rank's gradients are overwritten as soon as the next rank is played, so Submit copies
// each bucket into an arena of its rank; Finish folds them in law order.
#ifndef RINGSIDE_WORKER_SYNCHRONIZERS_LOCAL_SUMMER_H_
#define RINGSIDE_WORKER_SYNCHRONIZERS_LOCAL_SUMMER_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "common/arena.h"
#include "common/bucket_plan.h"
#include "common/frame_codec.h"
#include "common/mutex.h"
#include "worker/synchronizers/gradient_summer.h"

namespace ringside {

class LocalSummer final : public GradientSummer {
 public:
  struct Config {
    int world_size = 1;
    BucketPlan plan;
    // Sums are those of a ring whose partial sums travel like this.
    WireDtype wire_dtype = WireDtype::kFloat32;
  };

  // INVALID_ARGUMENT: world_size below 1. RESOURCE_EXHAUSTED: no memory for one arena a rank.
  static absl::StatusOr<std::unique_ptr<LocalSummer>> Create(Config config);

  // Any order of ranks and buckets.
  void Submit(const GradientBucket& bucket) override;
  // FAILED_PRECONDITION: a bucket of some rank was not submitted for this step, was submitted
  // twice, or does not fit the plan. ABORTED and others: the cause given to Abort.
  absl::StatusOr<absl::Span<const float>> Finish(int64_t step) override;
  absl::Span<const float> Submitted(const GradientBucket& bucket) const override;
  // Nothing leaves the process: always zero.
  CommunicationTimes communication() const override { return {}; }
  void Abort(absl::Status cause) override;
  absl::Status Shutdown() override;
  TrafficCounters traffic() const override { return {}; }
  TrafficCounters ExpectedTraffic(int64_t /*exchanges*/) const override { return {}; }

 private:
  LocalSummer(Config config, std::vector<std::unique_ptr<Arena>> gradients,
              std::unique_ptr<Arena> sums);

  absl::Status Check(const GradientBucket& bucket) const;
  absl::Status FirstMissing(int64_t step) const;
  absl::Status StickyError() const ABSL_LOCKS_EXCLUDED(mutex_);
  void Fail(absl::Status status) ABSL_LOCKS_EXCLUDED(mutex_);

  // Constant after construction.
  const Config config_;
  const std::vector<std::unique_ptr<Arena>> gradients_;  // by rank
  const std::unique_ptr<Arena> sums_;

  // Of the thread that submits and finishes.
  std::vector<int64_t> last_step_;  // by rank * buckets + bucket; -1: never submitted
  std::vector<absl::Span<const float>> bucket_of_rank_;  // scratch of Finish

  mutable Mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_SYNCHRONIZERS_LOCAL_SUMMER_H_
