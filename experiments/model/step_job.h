// What the cost model is asked about: one synchronous step of one strategy, and what things cost.
// Plain values. docs/metrics.md, "Cost model", defines every quantity. Seconds, bytes, elements.
#ifndef RINGSIDE_EXPERIMENTS_MODEL_STEP_JOB_H_
#define RINGSIDE_EXPERIMENTS_MODEL_STEP_JOB_H_

#include <cstdint>
#include <vector>

#include "common/bucket_plan.h"
#include "common/frame_codec.h"

namespace ringside {

// Of one strategy on one kind of machine.
struct LinkCosts {
  double alpha_s = 0;           // of the sending thread, per message
  double beta_s_per_byte = 0;   // of a link that is not shaped
  double gamma_s_per_byte = 0;  // of the folding thread, per byte added
  double cpu_s_per_byte = 0;    // of the sending and of the receiving thread
};

// One rank with a core of its own.
struct ComputeTimes {
  double before_backward_s = 0;  // data and forward
  double backward_s = 0;
  double after_s = 0;       // optimizer and the rest; needs a core
  double spread_s = 0;      // standard deviation of their sum, from step to step
  bool holds_core = false;  // forward and backward need a core too (a sleeping workload does not)
};

// Between two hosts, each way.
struct NetworkShape {
  double bytes_per_s = 0;  // of payload; 0: not shaped, LinkCosts::beta_s_per_byte counts
  double latency_s = 0;    // one way
  // What a link that has rested lets pass at once: a token bucket's size, in payload.
  double burst_bytes = 0;
};

enum class Placement {
  kDedicated,  // every process has a host of its own
  kColocated,  // shard s lives on the host of worker s mod N
};

// One bucket, in the order of submission.
struct ModelBucket {
  int64_t elements = 0;
  double ready = 1;  // share of backward after which it is submitted
};

struct StepJob {
  bool servers = false;  // ps; else ring
  int workers = 1;
  int shards = 0;
  Placement placement = Placement::kDedicated;
  std::vector<ModelBucket> buckets;
  int64_t element_bytes = 4;  // on the wire
  // Ring: RingSchedule.
  int64_t segment_elements = 64 << 10;
  int64_t lookahead = 16;
  // Server: the unit is bucket ∩ chunk ∩ shard, cut at this.
  int64_t unit_elements = kMaxFramePayloadBytes / 4;
  bool overlap = true;  // with backward
  // Formulas alone: false is a server that answers only when all was pushed.
  bool pull_overlaps_push = true;

  LinkCosts costs;
  ComputeTimes compute;
  NetworkShape network;
  int workers_per_host = 1;  // that share its network card; neighbours in rank
  bool one_machine = false;  // all hosts are namespaces of one machine and share its cores
  int cores = 0;             // of a machine; 0: as many as there are threads
};

// Buckets of these lengths, in the order of submission, with their readiness: the parameters of a
// bucket and of those before it are differentiated before it, each in a time proportional to its
// elements.
std::vector<ModelBucket> BucketsOf(const std::vector<int64_t>& lengths);

// Where processes live: worker r is process r, shard s is process N + s.
int NumProcesses(const StepJob& job);
int NumHosts(const StepJob& job);
int HostOf(const StepJob& job, int process);
// Seconds per byte of a host's link, each way, and of what stays on a host.
double LinkSecondsPerByte(const StepJob& job);
// What a burst saves on a link that has rested; 0 where links are not shaped.
double BurstSeconds(const StepJob& job);

// Threads of one machine that may want a core at once exceed its cores: they queue.
bool CoresAreShared(const StepJob& job);
// By how much work that needs a core takes longer when all ranks of a machine do it at once.
double CoreShortage(const StepJob& job);

// When a bucket is submitted, from the start of the step.
double ReadySeconds(const StepJob& job, const ModelBucket& bucket, double before_backward_s,
                    double backward_s);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MODEL_STEP_JOB_H_
