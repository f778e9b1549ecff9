#include "worker/job_trace.h"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "common/network/host_identity.h"
#include "common/suspects.h"
#include "common/trace/chrome_trace.h"

namespace ringside {
namespace {

// An upper limit: parts of the step, of each micro-batch and rank; each bucket ready, submitted,
// and summed in two phases; with servers, each unit pushed and come back. A bucket is cut into one
// unit for each rank and shard, and once more at every full frame.
int64_t Spans(const JobConfig& job, const BucketPlan& plan, int hosted) {
  const int64_t buckets = plan.size();
  const int64_t frames =
      plan.total_elements() * static_cast<int64_t>(sizeof(float)) / job.frame_bytes +
      buckets * job.workers * job.shards();
  const int64_t of_step = 3 + hosted * (3 * job.accumulate + 2 * buckets) + 3 * buckets +
                          (job.uses_servers() ? 2 * frames : 0);
  return job.trace_window().steps() * of_step;
}

}  // namespace

JobTrace::JobTrace(const JobConfig& job, const BucketPlan& plan, int hosted) {
  if (job.trace_window().empty()) return;
  buffer_ = std::make_unique<TraceBuffer>(job.trace_window(), Spans(job, plan, hosted));
}

void JobTrace::Describe(int rank, const ClockAlignment& clock, WorkerResult* result) const {
  *result->mutable_clock() = clock;
  if (buffer_ == nullptr) return;
  ProcessTrace* const trace = result->mutable_trace();
  *trace->mutable_id() = WorkerId(rank);
  trace->set_hostname(ReadHostIdentity().hostname());
  *trace->mutable_clock() = clock;
  buffer_->AppendTo(trace);
}

std::vector<ProcessTrace> TakeTraces(RunResult* result) {
  std::vector<ProcessTrace> traces;
  const auto take = [&traces](auto* part) {
    if (!part->has_trace()) return;
    traces.emplace_back().Swap(part->mutable_trace());
    part->clear_trace();
  };
  for (WorkerResult& worker : *result->mutable_worker_results()) take(&worker);
  for (ShardResult& shard : *result->mutable_shard_results()) take(&shard);
  return traces;
}

absl::Status RequireTraceFolder(const JobConfig& job) {
  if (job.trace_steps.empty() || !job.out.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--trace_steps=", job.trace_steps,
                   ": needs --out=DIR (of worker 0), where trace.json is to be"));
}

absl::Status WriteTrace(const std::vector<ProcessTrace>& traces, const StepWindow& window,
                        const std::string& out) {
  const std::string path = absl::StrCat(out, "/trace.json");
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << ChromeTrace(traces, window);
  file.close();
  if (file) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("cannot write ", path, ": ", strerror(errno)));
}

}  // namespace ringside
