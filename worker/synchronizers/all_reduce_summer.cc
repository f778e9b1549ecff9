#include "worker/synchronizers/all_reduce_summer.h"

#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/coordinator/monotonic_clock.h"

namespace ringside {
namespace {

// By which Finish waits longer for a bucket than the reducer does.
constexpr absl::Duration kGrace = absl::Seconds(2);

}  // namespace

absl::StatusOr<std::unique_ptr<AllReduceSummer>> AllReduceSummer::Create(Config config) {
  if (config.reducer == nullptr || config.expected_traffic == nullptr) {
    return absl::InvalidArgumentError(
        "an all-reduce summer needs a reducer and its traffic formula");
  }
  if (config.step_timeout <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "step timeout of ", absl::FormatDuration(config.step_timeout), "; it must be positive"));
  }
  const int64_t elements =
      config.sums == nullptr ? 0 : static_cast<int64_t>(config.sums->span().size());
  if (elements != config.plan.total_elements()) {
    return absl::InvalidArgumentError(absl::StrCat("an arena of ", elements,
                                                   " elements for the sums; the plan has ",
                                                   config.plan.total_elements()));
  }
  return absl::WrapUnique(new AllReduceSummer(std::move(config)));
}

AllReduceSummer::AllReduceSummer(Config config)
    : group_(std::move(config.group)),
      plan_(std::move(config.plan)),
      bucket_timeout_(config.step_timeout + kGrace),
      expected_traffic_(std::move(config.expected_traffic)),
      trace_(config.trace),
      sums_(std::move(config.sums)),
      reducer_(std::move(config.reducer)),
      lent_(plan_.size()),
      thread_([this] { Communicate(); }) {}

AllReduceSummer::~AllReduceSummer() { StopThread(); }

void AllReduceSummer::Submit(const GradientBucket& bucket) {
  MutexLock lock(&mutex_);
  if (!status_.ok()) return;
  if (submitted_ == plan_.size() && summed_ == plan_.size()) submitted_ = summed_ = 0;
  if (submitted_ == 0) step_ = bucket.step;
  const bool in_order =
      bucket.step == step_ && bucket.bucket == submitted_ && submitted_ < plan_.size();
  const int64_t length = in_order ? plan_.bucket(bucket.bucket).length : 0;
  if (!in_order || bucket.rank != group_.rank() ||
      static_cast<int64_t>(bucket.gradients.size()) != length) {
    Fail(absl::FailedPreconditionError(
        absl::StrCat("worker ", bucket.rank, " submits ", bucket.gradients.size(),
                     " elements as bucket ", bucket.bucket, " of step ", bucket.step,
                     "; due is bucket ", submitted_, " of step ", step_, " from worker ",
                     group_.rank(), in_order ? absl::StrCat(" with ", length, " elements") : "")));
    return;
  }
  const absl::Time now = MonotonicNow();
  if (bucket.after_backward) clock_.BackwardEnded(now);
  clock_.Submitted(now);
  lent_[submitted_++] = bucket.gradients;
  changed_.NotifyAll();
}

absl::StatusOr<absl::Span<const float>> AllReduceSummer::Finish(int64_t step) {
  const absl::Status status = WaitForSums(step);
  if (status.ok()) return absl::Span<const float>(sums_->span());
  // The caller takes its gradients back, so the thread must let go of them first; once aborted, it
  // does so soon.
  reducer_->Abort(status);
  MutexLock lock(&mutex_);
  const absl::Time deadline = absl::Now() + kGrace;
  while (summing_ && changed_.WaitUntil(&mutex_, deadline)) {
  }
  return status;
}

absl::Status AllReduceSummer::WaitForSums(int64_t step) {
  MutexLock lock(&mutex_);
  if (status_.ok() && (step != step_ || submitted_ != plan_.size())) {
    Fail(absl::FailedPreconditionError(absl::StrCat("step ", step, " is to be finished, but ",
                                                    submitted_, " of ", plan_.size(),
                                                    " buckets are submitted, for step ", step_)));
  }
  clock_.BackwardEnded(MonotonicNow());
  int seen = summed_;
  absl::Time deadline = absl::Now() + bucket_timeout_;
  while (status_.ok() && summed_ < plan_.size()) {
    const bool in_time = changed_.WaitUntil(&mutex_, deadline);
    if (summed_ != seen) {
      seen = summed_;
      deadline = absl::Now() + bucket_timeout_;
    } else if (!in_time && status_.ok()) {
      Fail(absl::DeadlineExceededError(absl::StrCat("the sum of step ", step_, " bucket ", summed_,
                                                    " has not returned for ",
                                                    absl::FormatDuration(bucket_timeout_))));
    }
  }
  communication_ = clock_.Finished(MonotonicNow());
  return status_;
}

void AllReduceSummer::Abort(absl::Status cause) {
  if (cause.ok()) cause = absl::AbortedError("aborted without a cause");
  reducer_->Abort(cause);
  MutexLock lock(&mutex_);
  Fail(std::move(cause));
}

absl::Status AllReduceSummer::Shutdown() {
  {
    MutexLock lock(&mutex_);
    if (summed_ < submitted_) {
      Fail(absl::AbortedError(absl::StrCat("shut down while step ", step_, " bucket ", summed_,
                                           " of ", plan_.size(), " was being summed")));
    }
  }
  StopThread();
  MutexLock lock(&mutex_);
  return status_;
}

TrafficCounters AllReduceSummer::traffic() const { return reducer_->traffic(); }

TrafficCounters AllReduceSummer::ExpectedTraffic(int64_t exchanges) const {
  return expected_traffic_(exchanges);
}

void AllReduceSummer::Communicate() {
  for (;;) {
    CollectiveId id;
    absl::Span<const float> gradients;
    {
      MutexLock lock(&mutex_);
      while (!stopping_ && (!status_.ok() || summed_ >= submitted_)) changed_.Wait(&mutex_);
      if (stopping_) return;
      id.step = static_cast<uint64_t>(step_);
      id.bucket = static_cast<uint32_t>(summed_);
      gradients = lent_[summed_];
      summing_ = true;
    }
    const ElementRange range = plan_.bucket(static_cast<int>(id.bucket));
    const absl::Status status =
        Sum(id, gradients, sums_->span().subspan(range.begin, range.length));
    MutexLock lock(&mutex_);
    summing_ = false;
    if (status.ok()) {
      ++summed_;
      clock_.Summed(MonotonicNow());
    } else {
      Fail(status);
    }
    changed_.NotifyAll();
  }
}

absl::Status AllReduceSummer::Sum(CollectiveId id, absl::Span<const float> gradients,
                                  absl::Span<float> sums) {
  const TraceScope traced(trace_, TRACE_SUM, static_cast<int64_t>(id.step),
                          static_cast<int>(id.bucket), group_.rank());
  return reducer_->Sum(id, gradients, sums);
}

void AllReduceSummer::StopThread() {
  if (!thread_.joinable()) return;
  {
    MutexLock lock(&mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  reducer_->Abort(absl::AbortedError("the summer has been shut down"));
  thread_.join();
}

void AllReduceSummer::Fail(absl::Status status) {
  if (status_.ok()) status_ = std::move(status);
  changed_.NotifyAll();
}

}  // namespace ringside
