// What a shard traces of a job, and what it tells worker 0 of it at the end.
//
// Thread-compatible; what buffer() points to is thread-safe.
#ifndef RINGSIDE_PS_SERVER_SHARD_TRACE_H_
#define RINGSIDE_PS_SERVER_SHARD_TRACE_H_

#include <memory>

#include "absl/status/status.h"
#include "common/bucket_plan.h"
#include "common/coordinator/coordinator_client.h"
#include "common/step_window.h"
#include "common/trace/trace_buffer.h"
#include "common/unit_table.h"
#include "results.pb.h"

namespace ringside {

class ShardTrace {
 public:
  // Before the first epoch. Nothing is made where no steps are traced. The error is that of reading
  // the coordinator's clock.
  absl::Status Begin(const StepWindow& window, const BucketPlan& plan, const ShardLayout& layout,
                     CoordinatorClient* coordinator);
  // Null: nothing is traced. Lives as long as this object.
  TraceBuffer* buffer() { return buffer_.get(); }
  // After the last epoch. Adds the trace, if there is one, to the results.
  absl::Status End(int shard, CoordinatorClient* coordinator, ShardResult* result);

 private:
  std::unique_ptr<TraceBuffer> buffer_;
  ClockAlignment clock_;
};

}  // namespace ringside

#endif  // RINGSIDE_PS_SERVER_SHARD_TRACE_H_
