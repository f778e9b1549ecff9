// How the gradients of all ranks meet and parameters come of them: the one seam between training
// and --strategy.
//
// The contract is parameters, not averaged gradients, so that a server which updates parameters
// itself (asynchronous modes) fits without a special case.
#ifndef RINGSIDE_WORKER_SYNCHRONIZERS_GRADIENT_SYNCHRONIZER_H_
#define RINGSIDE_WORKER_SYNCHRONIZERS_GRADIENT_SYNCHRONIZER_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "common/traffic.h"

namespace ringside {

// One bucket of one rank's gradients, lent read-only until Finish of the same step returns.
struct GradientBucket {
  int64_t step = 0;
  int rank = 0;
  int bucket = 0;
  absl::Span<const float> gradients;
  int64_t samples = 0;  // behind this rank's gradient
  // The process has ended its backward pass, so nothing hides the communication of this bucket.
  bool after_backward = false;
};

// How long a step's buckets were under way: while backward ran, and from its end until all sums
// were there. Both zero where nothing leaves the process.
struct CommunicationTimes {
  absl::Duration hidden;
  absl::Duration exposed;
};

struct StepStats {
  CommunicationTimes communication;
  absl::Duration optimizer;
  // The step after which the parameters are: the one that was finished, a later one where this
  // process was late (backup workers), or an earlier one where lost state was made good.
  int64_t parameters_step = 0;
  // Why no rank applied this step's update, naming rank and step; empty: it was applied.
  std::string skipped = {};
};

// Calls come from one thread, but for Abort and traffic, which may come from any.
class GradientSynchronizer {
 public:
  virtual ~GradientSynchronizer() = default;

  // Called once, first. On return the parameters of every rank are rank 0's. `parameters` is kept
  // and updated by Finish.
  virtual absl::Status Start(absl::Span<float> parameters) = 0;

  // Does not block. Each step, the process submits every bucket of every rank that it hosts, in
  // bucket order for each rank. Errors show in Finish.
  virtual void Submit(const GradientBucket& bucket) = 0;

  // Blocks until the parameters are those for the next step. Steps count from 1. The first error is
  // sticky.
  virtual absl::StatusOr<StepStats> Finish(int64_t step) = 0;

  // Makes a running and every later Start or Finish return `cause`.
  virtual void Abort(absl::Status cause) = 0;

  // Ends links in good order, after the last Finish. On return the parameters of all ranks are the
  // same, in modes where they may differ until then. But where lost state was made good while this
  // process waited for the others, and the parameters went back, nothing has ended: returns the
  // step after which they are, and the steps from there on are to be run again.
  virtual absl::StatusOr<absl::optional<int64_t>> Shutdown() = 0;

  // So far, the broadcast in Start included.
  virtual TrafficCounters traffic() const = 0;
  // What the formulas of docs/metrics.md give for the broadcast and `steps` steps.
  virtual TrafficCounters ExpectedTraffic(int64_t steps) const = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_SYNCHRONIZERS_GRADIENT_SYNCHRONIZER_H_
