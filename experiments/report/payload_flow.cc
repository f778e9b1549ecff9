#include "experiments/report/payload_flow.h"

#include <algorithm>
#include <cstdint>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/types/optional.h"
#include "experiments/report/series.h"
#include "experiments/report/server_mode.h"
#include "experiments/report/setting_text.h"

namespace ringside {
namespace {

// Of a step; the longest that any rank has recorded.
struct StepTimes {
  double communication_s = 0;  // hidden and exposed
  double span_s = 0;           // from the first bucket's submission to the last sum
};

struct MeanTimes {
  double communication_s = 0;
  absl::optional<double> span_s;  // unset: the records do not tell when buckets were submitted
};

double SpanOf(const StepRecord& record) {
  const double submitting = static_cast<double>(record.ready_at_ns() - record.first_ready_at_ns());
  const double after = record.step_s() - record.ready_s() - record.optimizer_s();
  return submitting * 1e-9 + std::max(0.0, after);
}

// Nothing where no step counts.
absl::optional<MeanTimes> TimesOf(const RunResult& run) {
  std::map<int64_t, StepTimes> longest;
  bool spans_are_told = true;
  for (const WorkerResult& worker : run.worker_results()) {
    for (const StepRecord& record : worker.steps()) {
      if (record.step() <= run.warmup_steps()) continue;
      StepTimes& times = longest[record.step()];
      times.communication_s =
          std::max(times.communication_s, record.hidden_comm_s() + record.exposed_comm_s());
      times.span_s = std::max(times.span_s, SpanOf(record));
      spans_are_told = spans_are_told && record.first_ready_at_ns() != 0;
    }
  }
  if (longest.empty()) return absl::nullopt;
  StepTimes sum;
  for (const auto& entry : longest) {
    sum.communication_s += entry.second.communication_s;
    sum.span_s += entry.second.span_s;
  }
  const auto steps = static_cast<double>(longest.size());
  MeanTimes mean;
  mean.communication_s = sum.communication_s / steps;
  if (spans_are_told) mean.span_s = sum.span_s / steps;
  return mean;
}

// Warm-up included, as in Traffic.
double StepsOf(const RunResult& run) {
  return static_cast<double>(std::max<int64_t>(1, run.total_steps() - run.resumed_from_step()));
}

double PerStep(const RunResult& run, const Traffic& traffic) {
  return static_cast<double>(
             std::max(traffic.payload_bytes_sent(), traffic.payload_bytes_received())) /
         StepsOf(run);
}

// Times in a step at which a worker may begin to communicate anew: not more than there are buckets
// (bucket_plan.h: full ones, a first and a last), nor messages.
double StartsOf(const RunResult& run, const Traffic& traffic) {
  const double messages =
      static_cast<double>(std::max(traffic.messages_sent(), traffic.messages_received())) /
      StepsOf(run);
  int64_t bucket_bytes = 0;
  if (!absl::SimpleAtoi(SettingOf(run, "bucket_bytes"), &bucket_bytes) || bucket_bytes < 1)
    return std::max(1.0, messages);
  const auto gradient_bytes =
      static_cast<double>(sizeof(float)) * static_cast<double>(run.parameter_elements());
  return std::max(1.0, std::min(messages, gradient_bytes / static_cast<double>(bucket_bytes) + 2));
}

// Emulated hosts that have worker and shards on them.
bool SharesHosts(const RunResult& run) {
  return run.has_network() && SettingOf(run, "placement") == "colocated";
}

// The share of a worker's payload that leaves its host; stripes of shards are alike.
double WorkerShareOutside(const RunResult& run, int rank) {
  if (!SharesHosts(run) || run.shards() == 0) return 1;
  int beside = 0;
  for (int shard = 0; shard < run.shards(); ++shard)
    beside += shard % std::max(1, run.workers()) == rank ? 1 : 0;
  return 1 - static_cast<double>(beside) / run.shards();
}

PayloadFlow WorkersFlow(const RunResult& run, const MeanTimes& times) {
  PayloadFlow flow;
  flow.process = "worker";
  flow.seconds = times.communication_s;
  flow.peers = std::max(1, run.shards());
  for (const WorkerResult& worker : run.worker_results()) {
    flow.bytes_per_step = std::max(flow.bytes_per_step, PerStep(run, worker.traffic()) *
                                                            WorkerShareOutside(run, worker.rank()));
    flow.starts = std::max(flow.starts, StartsOf(run, worker.traffic()));
  }
  return flow;
}

// A shard has no times of its own. Its payload of a step travels between the first submission of
// any worker and the end of the exchange, all of which whoever was the first has waited for.
PayloadFlow ShardsFlow(const RunResult& run, double span_s) {
  PayloadFlow flow;
  flow.process = SharesHosts(run) ? "host" : "shard";
  flow.seconds = span_s;
  flow.peers = std::max(1, run.workers());
  std::map<int, double> by_host;
  for (const ShardResult& shard : run.shard_results()) {
    const double bytes = PerStep(run, shard.traffic());
    if (SharesHosts(run)) {
      const double outside = 1 - 1.0 / flow.peers;
      by_host[shard.shard() % flow.peers] += bytes * outside;
    } else {
      by_host[shard.shard()] = bytes;
    }
  }
  for (const WorkerResult& worker : run.worker_results()) {
    if (SharesHosts(run) && by_host.count(worker.rank()) > 0) {
      by_host[worker.rank()] +=
          PerStep(run, worker.traffic()) * WorkerShareOutside(run, worker.rank());
    }
  }
  for (const auto& entry : by_host)
    flow.bytes_per_step = std::max(flow.bytes_per_step, entry.second);
  return flow;
}

}  // namespace

std::vector<PayloadFlow> PayloadFlows(const RunResult& run) {
  if (IsOneProcess(run.strategy()) || IsForeign(run.strategy())) return {};
  if (MaySkipSteps(run) || HadLosses(run)) return {};
  const absl::optional<MeanTimes> times = TimesOf(run);
  if (!times.has_value()) return {};
  std::vector<PayloadFlow> flows = {WorkersFlow(run, *times)};
  // In asynchronous modes workers take turns at a shard, and none waits for all of it.
  if (run.shard_results_size() > 0 && times->span_s.has_value() &&
      !PolicyOf(run).is_asynchronous()) {
    flows.push_back(ShardsFlow(run, *times->span_s));
  }
  flows.erase(std::remove_if(flows.begin(), flows.end(),
                             [](const PayloadFlow& flow) { return flow.bytes_per_step <= 0; }),
              flows.end());
  return flows;
}

}  // namespace ringside
