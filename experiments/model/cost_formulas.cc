#include "experiments/model/cost_formulas.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace ringside {
namespace {

// Acklam's rational approximation of the inverse of the normal distribution, its middle part:
// enough for probabilities in [0.5, 0.97575], the tail beyond.
double NormalQuantile(double p) {
  if (p > 0.97575) {
    const double q = std::sqrt(-2 * std::log(1 - p));
    const double numerator =
        ((((-7.784894002430293e-03 * q - 3.223964580411365e-01) * q - 2.400758277161838) * q -
          2.549732539343734) *
             q +
         4.374664141464968) *
            q +
        2.938163982698783;
    const double denominator =
        (((7.784695709041462e-03 * q + 3.224671290700398e-01) * q + 2.445134137142996) * q +
         3.754408661907416) *
            q +
        1;
    return -numerator / denominator;
  }
  const double q = p - 0.5;
  const double r = q * q;
  const double numerator =
      (((((-3.969683028665376e+01 * r + 2.209460984245205e+02) * r - 2.759285104469687e+02) * r +
         1.383577518672690e+02) *
            r -
        3.066479806614716e+01) *
           r +
       2.506628277459239) *
      q;
  const double denominator =
      ((((-5.447609879822406e+01 * r + 1.615858368580409e+02) * r - 1.556989798598866e+02) * r +
        6.680131188771972e+01) *
           r -
       1.328068155288572e+01) *
          r +
      1;
  return numerator / denominator;
}

double Ceiling(double a, double b) { return std::ceil(a / b - 1e-12); }

double CommunicationEnd(const std::vector<double>& ready, const std::vector<double>& seconds) {
  double end = 0;
  for (size_t i = 0; i < ready.size(); ++i) end = std::max(end, ready[i]) + seconds[i];
  return end;
}

double RingEnd(const StepJob& job, const std::vector<double>& ready) {
  std::vector<double> seconds;
  for (const ModelBucket& bucket : job.buckets) {
    seconds.push_back(RingBucketSeconds(job, bucket.elements));
  }
  return CommunicationEnd(ready, seconds);
}

// Bytes of a bucket that leave the busiest host on push and on pull.
struct HostLoad {
  double push = 0;
  double pull = 0;
  double both = 0;
};

HostLoad BusiestHost(const StepJob& job, double bytes) {
  const int hosts = NumHosts(job);
  std::vector<double> workers(hosts, 0);
  std::vector<double> shards(hosts, 0);
  for (int process = 0; process < NumProcesses(job); ++process) {
    ++(process < job.workers ? workers : shards)[HostOf(job, process)];
  }
  HostLoad most;
  for (int host = 0; host < hosts; ++host) {
    // Out to other hosts, and in from them; what comes in of a push mirrors what goes out on a
    // pull.
    const double own = bytes / job.shards;
    const double out = workers[host] * (job.shards - shards[host]) * own;
    const double in = shards[host] * (job.workers - workers[host]) * own;
    most.push = std::max({most.push, out, in});
    most.pull = std::max({most.pull, out, in});
    most.both = std::max(most.both, out + in);
  }
  return most;
}

double ServerEnd(const StepJob& job, const std::vector<double>& ready) {
  const double beta = LinkSecondsPerByte(job);
  std::vector<double> overlapping;
  double pull = 0;
  for (const ModelBucket& bucket : job.buckets) {
    const ServerBucketSeconds part = ServerBucket(job, bucket.elements);
    overlapping.push_back(job.pull_overlaps_push ? std::max(part.both, part.work)
                                                 : std::max(part.push, part.work));
    pull += part.pull;
  }
  const double end = CommunicationEnd(ready, overlapping) + 2 * job.network.latency_s;
  if (!job.pull_overlaps_push) return end + pull + 2 * job.costs.alpha_s;
  // The last unit: folded, sent to all workers, received.
  const LinkCosts& costs = job.costs;
  const ModelBucket& last = job.buckets.back();
  const double unit = static_cast<double>(last.elements * job.element_bytes) /
                      static_cast<double>(UnitsOfBucket(job, last.elements));
  const double fold = job.workers * unit * costs.gamma_s_per_byte;
  const double receivers = job.workers - (job.placement == Placement::kColocated ? 1 : 0);
  double answers = std::max(receivers * unit * beta, (job.workers - 1) * costs.alpha_s +
                                                         job.workers * unit * costs.cpu_s_per_byte);
  if (CoresAreShared(job) && job.one_machine) {
    const double all = job.shards * job.workers * (costs.alpha_s + 2 * unit * costs.cpu_s_per_byte);
    answers = std::max(answers, all / job.cores);
  }
  return end + fold + answers + 2 * costs.alpha_s + 3 * unit * costs.cpu_s_per_byte;
}

}  // namespace

double ExpectedLargest(int count) {
  if (count <= 1) return 0;
  return NormalQuantile((count - 0.375) / (count + 0.25));
}

double RingBucketSeconds(const StepJob& job, int64_t elements) {
  const int n = job.workers;
  if (n < 2 || elements == 0) return 0;
  const double chunk = static_cast<double>(elements) / n;
  const double segments = std::max(1.0, Ceiling(chunk, static_cast<double>(job.segment_elements)));
  const double bytes = chunk / segments * static_cast<double>(job.element_bytes);
  // Hops within a host cost no network.
  const bool crosses = NumHosts(job) > 1;
  const double wire = bytes * (crosses ? LinkSecondsPerByte(job) : job.costs.beta_s_per_byte);
  const double latency = crosses ? job.network.latency_s / job.workers_per_host : 0;
  const double burst = crosses ? BurstSeconds(job) : 0;
  // All ranks do the same at the same time, so that cores that are short are so in every step.
  const double shortage = CoreShortage(job);
  const LinkCosts& costs = job.costs;
  const double keep = shortage * bytes * costs.cpu_s_per_byte;
  const double send = keep + shortage * costs.alpha_s;
  const double add = keep + shortage * bytes * costs.gamma_s_per_byte;
  // Of one step on the next: the link or the thread is busy, or a segment is awaited. By then the
  // link has rested.
  const auto period = [&](double work) {
    return std::max(segments * std::max(wire, work), std::max(0.0, wire - burst) + latency + work);
  };
  const double own =
      send + std::max((segments - 1) * send, (segments - 1) * std::max(wire, send) + wire - burst);
  const double seconds =
      own + (n - 1) * period(add + send) + (n - 2) * period(keep + send) + latency + keep;
  const double all = segments * (2 * (n - 1) * (send + keep) + (n - 1) * (add - keep));
  return std::max(seconds, CoresAreShared(job) ? all : 0);
}

int64_t UnitsOfBucket(const StepJob& job, int64_t elements) {
  const int64_t pieces =
      std::min<int64_t>(elements, job.workers + job.shards - std::gcd(job.workers, job.shards));
  if (pieces == 0) return 0;
  return pieces * static_cast<int64_t>(Ceiling(
                      static_cast<double>(elements),
                      static_cast<double>(pieces) * static_cast<double>(job.unit_elements)));
}

ServerBucketSeconds ServerBucket(const StepJob& job, int64_t elements) {
  ServerBucketSeconds seconds;
  if (elements == 0) return seconds;
  const auto bytes = static_cast<double>(elements * job.element_bytes);
  const auto units = static_cast<double>(UnitsOfBucket(job, elements));
  const LinkCosts& costs = job.costs;
  const HostLoad load = BusiestHost(job, bytes);
  const double beta = LinkSecondsPerByte(job);
  seconds.push = load.push * beta;
  seconds.pull = load.pull * beta;
  seconds.both = load.both * beta;
  // A worker sends with one thread; a shard receives with one, folds and answers with another.
  const double workers_thread = bytes * costs.cpu_s_per_byte + units * costs.alpha_s;
  const double shards_thread =
      job.workers *
      (bytes * (costs.gamma_s_per_byte + costs.cpu_s_per_byte) + units * costs.alpha_s) /
      job.shards;
  seconds.work = std::max(workers_thread, shards_thread);
  if (CoresAreShared(job) && job.one_machine) {
    const double all = job.workers * (bytes * (4 * costs.cpu_s_per_byte + costs.gamma_s_per_byte) +
                                      2 * units * costs.alpha_s);
    seconds.work = std::max(seconds.work, all / job.cores);
  }
  return seconds;
}

StepEstimate EstimateStep(const StepJob& job) {
  StepEstimate estimate;
  const ComputeTimes& compute = job.compute;
  const double shortage = CoreShortage(job);
  const double slower = compute.holds_core ? shortage : 1;
  const double before = compute.before_backward_s * slower;
  const double backward = compute.backward_s * slower;
  estimate.backward_end_s = before + backward;
  estimate.communication_end_s = estimate.backward_end_s;
  std::vector<double> ready;
  for (const ModelBucket& bucket : job.buckets) {
    ready.push_back(ReadySeconds(job, bucket, before, backward));
  }
  const bool communicates = job.servers || job.workers > 1;
  if (communicates && !job.buckets.empty()) {
    estimate.communication_end_s = std::max(
        estimate.backward_end_s, job.servers ? ServerEnd(job, ready) : RingEnd(job, ready));
  }
  estimate.exposed_s = estimate.communication_end_s - estimate.backward_end_s;
  estimate.step_s = estimate.communication_end_s + compute.after_s * shortage +
                    compute.spread_s * ExpectedLargest(job.workers);
  return estimate;
}

double Efficiency(const StepJob& job, double step_s) {
  const ComputeTimes& compute = job.compute;
  return (compute.before_backward_s + compute.backward_s + compute.after_s) / step_s;
}

double ExpectedTrainingSeconds(double work_s, double mtbf_s, double interval_s, double checkpoint_s,
                               double restart_s) {
  return mtbf_s * std::exp(restart_s / mtbf_s) * std::expm1((interval_s + checkpoint_s) / mtbf_s) *
         work_s / interval_s;
}

}  // namespace ringside
