// What a worker process traces of a job, how its clock stands to the others', and what worker 0
// makes of all that.
//
// Thread-compatible; what buffer() points to is thread-safe.
#ifndef RINGSIDE_WORKER_JOB_TRACE_H_
#define RINGSIDE_WORKER_JOB_TRACE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/bucket_plan.h"
#include "common/config/job_config.h"
#include "common/trace/trace_buffer.h"
#include "results.pb.h"
#include "trace.pb.h"

namespace ringside {

class JobTrace {
 public:
  // Makes room for the spans of `hosted` ranks, where steps are traced.
  JobTrace(const JobConfig& job, const BucketPlan& plan, int hosted);

  // Null: nothing is traced. Lives as long as this object.
  TraceBuffer* buffer() { return buffer_.get(); }

  // Adds how the clock stood, and the spans where there are any, to the results.
  void Describe(int rank, const ClockAlignment& clock, WorkerResult* result) const;

 private:
  std::unique_ptr<TraceBuffer> buffer_;
};

// Takes the spans of all processes out of the results: workers, then shards.
std::vector<ProcessTrace> TakeTraces(RunResult* result);

// Of worker 0. INVALID_ARGUMENT: steps are to be traced, and there is no folder for the trace.
absl::Status RequireTraceFolder(const JobConfig& job);

// <out>/trace.json. DATA_LOSS: it cannot be written; says why.
absl::Status WriteTrace(const std::vector<ProcessTrace>& traces, const StepWindow& window,
                        const std::string& out);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_JOB_TRACE_H_
