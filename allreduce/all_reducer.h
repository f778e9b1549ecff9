// The interface of every all-reduce: our ring, and later the foreign baselines behind thin
// adapters.
#ifndef RINGSIDE_ALLREDUCE_ALL_REDUCER_H_
#define RINGSIDE_ALLREDUCE_ALL_REDUCER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/traffic.h"

namespace ringside {

// Which collective this is; all ranks call Sum with the same sequence of ids.
struct CollectiveId {
  uint64_t step = 0;
  uint32_t bucket = 0;
};

// Bound to one immutable group. Sum is called by one thread at a time; Abort and traffic may be
// called from any thread.
class AllReducer {
 public:
  virtual ~AllReducer() = default;

  // Blocks until `out` holds the sum of all ranks' `in`. Equal lengths on all ranks; `out` may be
  // `in`. `in` is not changed unless it is `out`. The first error is sticky. UNAVAILABLE or
  // DEADLINE_EXCEEDED: a neighbour is gone or silent (attached as suspect); INVALID_ARGUMENT or
  // FAILED_PRECONDITION: it sent something else than this collective calls for; ABORTED: Abort.
  virtual absl::Status Sum(CollectiveId id, absl::Span<const float> in, absl::Span<float> out) = 0;

  // Makes a running and every later Sum return `cause`.
  virtual void Abort(absl::Status cause) = 0;

  virtual TrafficCounters traffic() const = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_ALL_REDUCER_H_
