#include "ps_server/metrics_families.h"

#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace ringside {
namespace {

using ::prometheus::ClientMetric;
using ::prometheus::MetricFamily;
using ::prometheus::MetricType;

// Collects the families of one shard.
class Families {
 public:
  explicit Families(int shard) : shard_(absl::StrCat(shard)) {}

  void AddCounter(const std::string& name, const std::string& help, double value) {
    ClientMetric metric = Labelled();
    metric.counter.value = value;
    Add(name, help, MetricType::Counter).metric.push_back(std::move(metric));
  }

  void AddGauge(const std::string& name, const std::string& help, double value) {
    ClientMetric metric = Labelled();
    metric.gauge.value = value;
    Add(name, help, MetricType::Gauge).metric.push_back(std::move(metric));
  }

  // What was counted and what the formula says, in both directions.
  void AddTraffic(const std::string& name, const std::string& help,
                  int64_t TrafficCounters::*received, int64_t TrafficCounters::*sent,
                  const ShardMetrics& metrics) {
    MetricFamily& family = Add(name, help, MetricType::Counter);
    const auto add = [&](const char* direction, const char* kind, int64_t value) {
      ClientMetric metric = Labelled();
      metric.label.push_back({"direction", direction});
      metric.label.push_back({"kind", kind});
      metric.counter.value = static_cast<double>(value);
      family.metric.push_back(std::move(metric));
    };
    add("in", "counted", metrics.counted.*received);
    add("in", "expected", metrics.expected.*received);
    add("out", "counted", metrics.counted.*sent);
    add("out", "expected", metrics.expected.*sent);
  }

  // `counts` by value; the last is of its value and more.
  void AddHistogram(const std::string& name, const std::string& help,
                    const std::vector<int64_t>& counts) {
    ClientMetric metric = Labelled();
    uint64_t sum = 0;
    for (size_t value = 0; value < counts.size(); ++value) {
      metric.histogram.sample_count += static_cast<uint64_t>(counts[value]);
      sum += value * static_cast<uint64_t>(counts[value]);
      const bool last = value + 1 == counts.size();
      metric.histogram.bucket.push_back(
          {metric.histogram.sample_count,
           last ? std::numeric_limits<double>::infinity() : static_cast<double>(value)});
    }
    metric.histogram.sample_sum = static_cast<double>(sum);
    Add(name, help, MetricType::Histogram).metric.push_back(std::move(metric));
  }

  std::vector<MetricFamily> Take() { return std::move(families_); }

 private:
  MetricFamily& Add(const std::string& name, const std::string& help, MetricType type) {
    families_.push_back({"ringside_ps_" + name, help, type, {}});
    return families_.back();
  }

  ClientMetric Labelled() const {
    ClientMetric metric;
    metric.label.push_back({"shard", shard_});
    return metric;
  }

  const std::string shard_;
  std::vector<MetricFamily> families_;
};

void AddAllTraffic(const ShardMetrics& metrics, Families& families) {
  families.AddTraffic("bytes_total", "Payload bytes of gradients, sums and parameters.",
                      &TrafficCounters::payload_bytes_received,
                      &TrafficCounters::payload_bytes_sent, metrics);
  families.AddTraffic("messages_total", "Messages with a payload.",
                      &TrafficCounters::messages_received, &TrafficCounters::messages_sent,
                      metrics);
  families.AddTraffic("header_bytes_total", "Header bytes of messages with a payload.",
                      &TrafficCounters::header_bytes_received, &TrafficCounters::header_bytes_sent,
                      metrics);
}

void AddTimes(const ShardMetrics& metrics, Families& families) {
  const auto add = [&families](const std::string& name, const std::string& help,
                               absl::Duration time) {
    families.AddCounter(name, help, absl::ToDoubleSeconds(time));
  };
  add("queue_seconds_total", "Waiting of frames for their turn, all frames together.",
      metrics.account.queue_time);
  add("fold_seconds_total", "Adding gradients and updating parameters.", metrics.account.fold_time);
  add("serialise_seconds_total", "Building reply frames and handing them to the streams.",
      metrics.account.serialise_time);
  add("reply_seconds_total", "From a unit's completion to the end of its last write, all replies.",
      metrics.replies.time);
  add("snapshot_seconds_total", "Writing snapshots of the shard's state.", metrics.snapshot_time);
  families.AddCounter("cpu_seconds_total", "User and system time of the process.",
                      metrics.cpu_seconds);
}

void AddCounts(const ShardMetrics& metrics, Families& families) {
  const auto add = [&families](const std::string& name, const std::string& help, int64_t count) {
    families.AddCounter(name, help, static_cast<double>(count));
  };
  const ShardExecutor::Account& account = metrics.account;
  add("steps_total", "Steps closed, the broadcast of the initial parameters included.",
      account.steps);
  add("frames_total", "Frames taken from workers, those without a payload included.",
      account.frames);
  add("replies_total", "Replies whose last write has ended.", metrics.replies.replies);
  add("updates_total", "Updates by the optimizer on the shard, in units.",
      account.statistics.updates);
  add("late_pushes_total", "Steps of a worker that did not count (mode backup).",
      account.statistics.late_pushes);
  add("snapshots_total", "Snapshots written of the shard's state.", metrics.snapshots);
}

}  // namespace

std::vector<prometheus::MetricFamily> MetricsFamilies(const ShardMetrics& metrics) {
  Families families(metrics.shard);
  AddAllTraffic(metrics, families);
  AddCounts(metrics, families);
  AddTimes(metrics, families);
  if (!metrics.account.statistics.staleness.empty()) {
    families.AddHistogram("staleness",
                          "Units pushed, by the updates of others that they have missed; the last "
                          "bucket counts as its lower end in the sum.",
                          metrics.account.statistics.staleness);
  }
  families.AddGauge("elements", "Parameters that the shard owns.",
                    static_cast<double>(metrics.elements));
  families.AddGauge("connected_workers", "Workers with an open stream.", metrics.connected_workers);
  families.AddGauge("peak_rss_bytes", "Largest resident set of the process.",
                    static_cast<double>(metrics.peak_rss_bytes));
  return families.Take();
}

}  // namespace ringside
