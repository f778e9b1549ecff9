#include "experiments/model/step_job.h"

#include <algorithm>
#include <numeric>

namespace ringside {

std::vector<ModelBucket> BucketsOf(const std::vector<int64_t>& lengths) {
  std::vector<ModelBucket> buckets;
  const auto total =
      static_cast<double>(std::accumulate(lengths.begin(), lengths.end(), int64_t{0}));
  int64_t so_far = 0;
  for (int64_t length : lengths) {
    so_far += length;
    buckets.push_back({length, total > 0 ? static_cast<double>(so_far) / total : 1});
  }
  return buckets;
}

int NumProcesses(const StepJob& job) { return job.workers + (job.servers ? job.shards : 0); }

int HostOf(const StepJob& job, int process) {
  if (process < job.workers) return process / job.workers_per_host;
  const int shard = process - job.workers;
  if (job.placement == Placement::kColocated) {
    return (shard % job.workers) / job.workers_per_host;
  }
  return (job.workers - 1) / job.workers_per_host + 1 + shard;
}

int NumHosts(const StepJob& job) {
  int most = 0;
  for (int process = 0; process < NumProcesses(job); ++process) {
    most = std::max(most, HostOf(job, process));
  }
  return most + 1;
}

double LinkSecondsPerByte(const StepJob& job) {
  return job.network.bytes_per_s > 0 ? 1 / job.network.bytes_per_s : job.costs.beta_s_per_byte;
}

double BurstSeconds(const StepJob& job) {
  return job.network.bytes_per_s > 0 ? job.network.burst_bytes / job.network.bytes_per_s : 0;
}

bool CoresAreShared(const StepJob& job) {
  if (job.cores <= 0) return false;
  const int per_process = job.servers ? 2 : 1;  // sending and receiving threads of a server's link
  const int compute = job.compute.holds_core ? 1 : 0;
  int threads = 0;
  if (job.one_machine) {
    threads = NumProcesses(job) * per_process + job.workers * compute;
  } else {
    const int shards = job.servers && job.placement == Placement::kColocated
                           ? (job.shards + job.workers - 1) / job.workers * job.workers_per_host
                           : 0;
    threads = (job.workers_per_host + shards) * per_process + job.workers_per_host * compute;
  }
  return threads > job.cores;
}

double CoreShortage(const StepJob& job) {
  if (job.cores <= 0) return 1;
  const double ranks = job.one_machine ? job.workers : std::min(job.workers, job.workers_per_host);
  return std::max(1.0, ranks / job.cores);
}

double ReadySeconds(const StepJob& job, const ModelBucket& bucket, double before_backward_s,
                    double backward_s) {
  return before_backward_s + backward_s * (job.overlap ? bucket.ready : 1);
}

}  // namespace ringside
