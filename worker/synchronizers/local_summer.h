// The strategies of one process: `local`, which plays all ranks in turn and is the oracle that the
// others are compared with, and `data_parallel`, which plays them at once, each on a thread.
//
// Where ranks are played in turn, a rank's gradients are overwritten as soon as the next is played,
// so Submit copies each bucket into an arena of its rank. Where they are played at once, each
// rank's gradients stay where they are, and are lent. Finish folds them in law order. A single
// rank, whatever its strategy, has nothing to fold: its gradients are the sums.
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
    // Every rank has gradients of its own, parts of one span that lie as in the plan, and they stay
    // as they are until the next Submit.
    bool lent = false;
  };

  // INVALID_ARGUMENT: world_size below 1. RESOURCE_EXHAUSTED: no memory for
  // the arenas.
  static absl::StatusOr<std::unique_ptr<LocalSummer>> Create(Config config);

  // Any order of ranks and buckets. Different ranks may come from different threads, which Finish
  // must be made to follow.
  void Submit(const GradientBucket& bucket) override;
  // FAILED_PRECONDITION: a bucket of some rank was not submitted for this step, was submitted
  // twice, or does not fit the plan, or a single rank's buckets lie apart. ABORTED and others: the
  // cause given to Abort.
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
  // The gradients of the only rank, as one span.
  absl::StatusOr<absl::Span<const float>> OfSingleRank();
  absl::Status StickyError() const ABSL_LOCKS_EXCLUDED(mutex_);
  void Fail(absl::Status status) ABSL_LOCKS_EXCLUDED(mutex_);

  // Constant after construction.
  const Config config_;
  const std::vector<std::unique_ptr<Arena>> copies_;  // by rank; none where gradients are lent
  const std::unique_ptr<Arena> sums_;                 // none for a single rank

  // By bucket, then by rank. What is of a rank belongs to the thread that submits for it, and
  // between steps to the one that finishes.
  std::vector<std::vector<int64_t>> last_step_;                  // -1: never submitted
  std::vector<std::vector<absl::Span<const float>>> gradients_;  // what is folded

  mutable Mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_SYNCHRONIZERS_LOCAL_SUMMER_H_
