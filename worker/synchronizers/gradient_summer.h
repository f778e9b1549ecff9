// Sums the buckets of all ranks in law order: what the synchronous strategies differ in, and all
// that they differ in. SynchronousUpdate makes a GradientSynchronizer of it.
#ifndef RINGSIDE_WORKER_SYNCHRONIZERS_GRADIENT_SUMMER_H_
#define RINGSIDE_WORKER_SYNCHRONIZERS_GRADIENT_SUMMER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/traffic.h"
#include "worker/synchronizers/gradient_synchronizer.h"

namespace ringside {

// Submit and Finish come from one thread; Abort and traffic from any. Sums live in a buffer of the
// summer's own, so that gradients stay intact until the step is over.
class GradientSummer {
 public:
  virtual ~GradientSummer() = default;

  // Lends one bucket until Finish(step) returns. Does not block; errors show in Finish.
  virtual void Submit(const GradientBucket& bucket) = 0;

  // Blocks until every bucket of `step` is summed. The flat sums, in arena order, are valid until
  // the next Submit. The first error is sticky; it names step, bucket and whom it waits for
  // (attached as suspects).
  virtual absl::StatusOr<absl::Span<const float>> Finish(int64_t step) = 0;

  // The gradients of a bucket that was submitted for the step that Finish returned last; until the
  // next Submit. What was lent is intact, but a summer for which it need not be has a copy.
  virtual absl::Span<const float> Submitted(const GradientBucket& bucket) const {
    return bucket.gradients;
  }

  // Of the exchange that Finish returned last. From the thread that calls Finish.
  virtual CommunicationTimes communication() const = 0;

  // Makes a running and every later Finish return `cause`.
  virtual void Abort(absl::Status cause) = 0;

  virtual absl::Status Shutdown() = 0;

  virtual TrafficCounters traffic() const = 0;
  // By formula, for `exchanges` sums of the whole arena.
  virtual TrafficCounters ExpectedTraffic(int64_t exchanges) const = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_SYNCHRONIZERS_GRADIENT_SUMMER_H_
