// Sums gradients with an AllReducer (our ring, later a baseline), while backward still computes.
#ifndef RINGSIDE_WORKER_SYNCHRONIZERS_ALL_REDUCE_SUMMER_H_
#define RINGSIDE_WORKER_SYNCHRONIZERS_ALL_REDUCE_SUMMER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "allreduce/all_reducer.h"
#include "common/arena.h"
#include "common/bucket_plan.h"
#include "common/group.h"
#include "common/mutex.h"
#include "common/trace/trace_buffer.h"
#include "worker/synchronizers/communication_clock.h"
#include "worker/synchronizers/gradient_summer.h"

namespace ringside {

// One communication thread sums the buckets strictly in order, which is the same on all ranks:
// collectives need no negotiation. Submit only notes a bucket, at most one step's worth of them.
class AllReduceSummer final : public GradientSummer {
 public:
  struct Config {
    Group group;
    BucketPlan plan;
    std::unique_ptr<AllReducer> reducer;
    // Where the sums go, of the plan's total length. Made by the caller, because a reducer may let
    // its neighbours read it.
    std::unique_ptr<Arena> sums;
    // The reducer's own limit for one sum. Finish waits a little longer for each bucket, so that
    // the reducer, which knows more, reports first.
    absl::Duration step_timeout = absl::Seconds(60);
    // By formula, for so many sums of the whole plan; for the ring, RingTraffic of
    // allreduce/ring_traffic.h.
    std::function<TrafficCounters(int64_t exchanges)> expected_traffic;
    TraceBuffer* trace = nullptr;  // borrowed; null: nothing is traced
  };

  // INVALID_ARGUMENT: no reducer, no formula, an arena that is missing or has another length than
  // the plan, a timeout that is not positive.
  static absl::StatusOr<std::unique_ptr<AllReduceSummer>> Create(Config config);
  // Aborts a running sum and joins the thread.
  ~AllReduceSummer() override;

  // A bucket out of order, of another rank, of another step than those before it, or of another
  // length than the plan's makes Finish fail with FAILED_PRECONDITION, as does a Finish without all
  // buckets.
  void Submit(const GradientBucket& bucket) override;
  // Errors are those of AllReducer::Sum, and DEADLINE_EXCEEDED of its own when the reducer does not
  // return.
  absl::StatusOr<absl::Span<const float>> Finish(int64_t step) override;
  CommunicationTimes communication() const override { return communication_; }
  void Abort(absl::Status cause) override;
  // Ends the thread. To be called after the last Finish: what is still running is aborted, and is
  // an error. The links close with the object; all that was to be sent has left by then.
  absl::Status Shutdown() override;
  TrafficCounters traffic() const override;
  TrafficCounters ExpectedTraffic(int64_t exchanges) const override;

 private:
  explicit AllReduceSummer(Config config);

  absl::Status WaitForSums(int64_t step) ABSL_LOCKS_EXCLUDED(mutex_);
  void Communicate() ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status Sum(CollectiveId id, absl::Span<const float> gradients, absl::Span<float> sums);
  void StopThread() ABSL_LOCKS_EXCLUDED(mutex_);
  void Fail(absl::Status status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Constant after construction.
  const Group group_;
  const BucketPlan plan_;
  const absl::Duration bucket_timeout_;
  const std::function<TrafficCounters(int64_t exchanges)> expected_traffic_;
  TraceBuffer* const trace_;
  // Written by the thread, between the Submit of a bucket and its place in summed_. Outlives the
  // reducer.
  const std::unique_ptr<Arena> sums_;
  const std::unique_ptr<AllReducer> reducer_;

  CommunicationTimes communication_;  // of the thread that calls Finish

  mutable Mutex mutex_;
  CondVar changed_;
  // The step that is being submitted or summed; its first submitted_ buckets are lent, its first
  // summed_ are done.
  int64_t step_ ABSL_GUARDED_BY(mutex_) = -1;
  int submitted_ ABSL_GUARDED_BY(mutex_) = 0;
  int summed_ ABSL_GUARDED_BY(mutex_) = 0;
  CommunicationClock clock_ ABSL_GUARDED_BY(mutex_);
  bool summing_ ABSL_GUARDED_BY(mutex_) = false;  // the thread is reading a lent bucket
  std::vector<absl::Span<const float>> lent_ ABSL_GUARDED_BY(mutex_);
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;

  std::thread thread_;  // last, so that it starts when all else is there
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_SYNCHRONIZERS_ALL_REDUCE_SUMMER_H_
