#include "experiments/model/sweep_points.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/bucket_plan.h"
#include "common/config/network_spec.h"
#include "experiments/model/model_shapes.h"
#include "experiments/model/payload_rate.h"
#include "experiments/report/run_samples.h"
#include "experiments/report/server_mode.h"
#include "experiments/report/statistics.h"

namespace ringside {
namespace {

// Segments that a ring between hosts looks ahead (allreduce/reducer_factory.cc).
constexpr int64_t kFarLookahead = 16;
// Makes the median absolute deviation the standard deviation of a normal distribution.
constexpr double kMadToDeviation = 1.4826;

std::string Setting(const RunResult& run, const std::string& name) {
  const auto found = run.settings().find(name);
  return found == run.settings().end() ? "" : found->second;
}

int64_t Number(const RunResult& run, const std::string& name, int64_t otherwise) {
  int64_t number = 0;
  return absl::SimpleAtoi(Setting(run, name), &number) ? number : otherwise;
}

std::string Fact(const RunResult& run, const std::string& name) {
  for (const WorkerResult& worker : run.worker_results()) {
    const auto found = worker.process().facts().find(name);
    if (found != worker.process().facts().end()) return found->second;
  }
  return "";
}

bool IsKnown(const RunResult& run) {
  if (!Setting(run, "stragglers").empty() || CountedSteps(run).empty()) return false;
  if (run.strategy() == "ring") return Fact(run, "schedule") != "direct";
  return run.strategy() == "ps" && PolicyOf(run).mode == PsMode::kSync && run.shards() > 0;
}

std::string PlacementOf(const RunResult& run) {
  if (run.strategy() != "ps") return "";
  return Setting(run, "placement") == "colocated" ? "colocated" : "dedicated";
}

// Runs of one key are trials of one point.
std::string KeyOf(const RunResult& run, const ComparisonResult& comparison) {
  std::string key = absl::StrCat(run.strategy(), "|", run.workers(), "|", run.shards());
  std::set<std::string> names = {"network",      "placement",     "first_bucket_bytes",
                                 "bucket_bytes", "segment_bytes", "frame_bytes",
                                 "model",        "model_args",    "wire_dtype",
                                 "overlap",      "batch_size",    "accumulate",
                                 "ps_link",      "ring_link",     "update"};
  names.insert(comparison.varied().begin(), comparison.varied().end());
  for (const std::string& name : names) absl::StrAppend(&key, "|", Setting(run, name));
  return key;
}

int64_t LookaheadOf(const RunResult& run, bool between_hosts) {
  const std::string link = Fact(run, "left_link");
  if (between_hosts || link.empty()) return kFarLookahead;
  return link == "shm" ? std::numeric_limits<int32_t>::max() : 1;
}

// One way between two hosts: measured, where it was (over all trials), else as asked for.
void SetNetwork(SweepPoint* point) {
  const RunResult& run = *point->runs.front();
  const auto asked = ParseNetworkSpec(Setting(run, "network"));
  double mbit = run.network().bandwidth_mbit();
  double latency_us = run.network().latency_us();
  if (!run.has_network() && asked.ok()) {
    mbit = asked->bandwidth_mbit;
    latency_us = asked->latency_us;
  }
  point->shaped = mbit > 0;
  std::vector<double> bandwidths;
  std::vector<double> round_trips;
  for (const RunResult* trial : point->runs) {
    for (const LinkProbe& probe : trial->network().probes()) {
      if (probe.bandwidth_mbit() > 0) bandwidths.push_back(probe.bandwidth_mbit());
      if (probe.round_trip_us() > 0) round_trips.push_back(probe.round_trip_us());
    }
  }
  point->probed = point->shaped && !bandwidths.empty();
  if (!point->shaped) mbit = 0;
  if (point->probed) mbit = Median(bandwidths);
  if (!round_trips.empty()) latency_us = Median(round_trips) / 2;
  point->job.network.bytes_per_s = point->probed ? mbit * 1e6 / 8 : PayloadBytesPerSecond(mbit);
  point->job.network.latency_s = latency_us * 1e-6;
  if (point->shaped)
    point->job.network.burst_bytes = PayloadOf(static_cast<double>(run.network().burst_bytes()));
  const bool between_hosts = point->shaped || run.has_network() || !point->job.one_machine;
  point->job.lookahead = LookaheadOf(run, between_hosts);
}

void SetMachine(const RunResult& run, StepJob* job) {
  std::set<std::string> hosts;
  std::set<int> cpus;
  const auto note = [&](const ProcessInfo& process) {
    hosts.insert(process.hostname());
    cpus.insert(process.cpus().begin(), process.cpus().end());
  };
  for (const WorkerResult& worker : run.worker_results()) note(worker.process());
  for (const ShardResult& shard : run.shard_results()) note(shard.process());
  job->one_machine = hosts.size() == 1;
  job->cores = cpus.empty() ? run.provenance().cores() : static_cast<int>(cpus.size());
}

// Those of the run; older results do not have them, and their shapes are a guess.
std::vector<ModelBucket> BucketsOfRun(const RunResult& run) {
  if (run.bucket_elements_size() > 0) {
    return BucketsOf(
        std::vector<int64_t>(run.bucket_elements().begin(), run.bucket_elements().end()));
  }
  bool exact = false;
  const auto shapes = ShapesOfModel(Setting(run, "model"), Setting(run, "model_args"),
                                    std::max<int64_t>(1, run.parameter_elements()), &exact);
  const auto plan = BucketPlan::Create(shapes, Number(run, "first_bucket_bytes", 256 << 10),
                                       Number(run, "bucket_bytes", 4 << 20));
  return plan.ok() ? BucketsOf(plan->lengths()) : std::vector<ModelBucket>();
}

StepJob JobOf(const RunResult& run) {
  StepJob job;
  job.servers = run.strategy() == "ps";
  job.workers = run.workers();
  job.shards = job.servers ? run.shards() : 0;
  job.placement = PlacementOf(run) == "colocated" ? Placement::kColocated : Placement::kDedicated;
  const std::string dtype = Setting(run, "wire_dtype");
  job.element_bytes = dtype.empty() || dtype == "fp32" ? 4 : 2;
  const int64_t frame = Number(run, "frame_bytes", kMaxFramePayloadBytes);
  job.unit_elements = std::max<int64_t>(1, frame / 4);
  job.segment_elements =
      std::max<int64_t>(1, std::min(frame, Number(run, "segment_bytes", 256 << 10)) / 4);
  job.overlap = Setting(run, "overlap") != "off";
  job.compute.holds_core = Setting(run, "model") != "shapes" ||
                           ArgumentOf(Setting(run, "model_args"), "compute") == "spin";
  SetMachine(run, &job);
  return job;
}

void MeasureCompute(SweepPoint* point) {
  std::vector<double> before;
  std::vector<double> backward;
  std::vector<double> after;
  std::vector<double> own;
  for (const RunResult* run : point->runs) {
    for (const WorkerResult& worker : run->worker_results()) {
      for (const StepRecord& record : worker.steps()) {
        if (record.step() <= run->warmup_steps()) continue;
        before.push_back(record.data_s() + record.forward_s());
        backward.push_back(record.backward_s());
        after.push_back(record.optimizer_s() + record.other_s());
        own.push_back(before.back() + backward.back() + record.optimizer_s());
      }
    }
  }
  ComputeTimes& compute = point->compute;
  compute.holds_core = point->job.compute.holds_core;
  compute.before_backward_s = Median(before);
  compute.backward_s = Median(backward);
  compute.after_s = std::max(0.0, Median(after));
  compute.spread_s = kMadToDeviation * MedianAbsoluteDeviation(own);
}

// What the shards say of themselves: their fold, and their CPU time apart from it, per byte.
void MeasureShards(SweepPoint* point) {
  double fold_s = 0;
  double cpu_s = 0;
  double received = 0;
  double moved = 0;
  for (const RunResult* run : point->runs) {
    for (const ShardResult& shard : run->shard_results()) {
      const Traffic& traffic = shard.traffic();
      fold_s += shard.fold_s();
      cpu_s += shard.process().cpu_seconds();
      received += static_cast<double>(traffic.payload_bytes_received());
      moved += static_cast<double>(traffic.payload_bytes_received() + traffic.payload_bytes_sent());
    }
  }
  if (received > 0) point->gamma_s_per_byte = fold_s / received;
  if (moved > 0) point->server_cpu_s_per_byte = std::max(0.0, cpu_s - fold_s) / moved;
}

void MeasureStep(const ComparisonResult& comparison, SweepPoint* point) {
  Trials trials;
  for (const RunResult* run : point->runs) {
    trials.emplace_back();
    for (const StepSample& sample : CountedSteps(*run)) trials.back().push_back(sample.step_s);
    point->counted_steps += static_cast<int64_t>(trials.back().size());
  }
  const IntervalEstimate step = MedianInterval(trials);
  Interval* measured = point->row.mutable_measured_s();
  measured->set_low(step.low);
  measured->set_median(step.median);
  measured->set_high(step.high);
  const RunResult& first = *point->runs.front();
  for (const std::string& name : comparison.varied()) {
    (*point->row.mutable_point())[name] = Setting(first, name);
  }
}

}  // namespace

std::vector<SweepPoint> PointsOf(const ComparisonResult& comparison) {
  std::vector<SweepPoint> points;
  std::map<std::string, size_t> places;
  for (const RunResult& run : comparison.runs()) {
    if (!IsKnown(run)) continue;
    const auto [place, is_new] = places.emplace(KeyOf(run, comparison), points.size());
    if (is_new) {
      SweepPoint& point = points.emplace_back();
      point.row.set_strategy(run.strategy());
      point.row.set_workers(run.workers());
      point.row.set_shards(run.shards());
      point.row.set_placement(PlacementOf(run));
      point.job = JobOf(run);
      point.job.buckets = BucketsOfRun(run);
      point.base = absl::StrCat(Setting(run, "model"), " ", Setting(run, "model_args"));
      point.rank_batch =
          static_cast<double>(Number(run, "batch_size", 1) * Number(run, "accumulate", 1));
    }
    points[place->second].runs.push_back(&run);
  }
  for (SweepPoint& point : points) {
    SetNetwork(&point);
    MeasureStep(comparison, &point);
    MeasureCompute(&point);
    MeasureShards(&point);
  }
  return points;
}

std::string WorkloadOf(const SweepPoint& point) {
  // The workload shapes takes its time whatever the batch.
  if (point.base.rfind("shapes ", 0) == 0) return point.base;
  return absl::StrCat(point.base, point.base.back() == ' ' ? "" : " ", "batch ", point.rank_batch);
}

std::string SettingOf(const SweepPoint& point, const std::string& setting) {
  if (setting == "workers") return absl::StrCat(point.row.workers());
  if (setting == "strategy") return point.row.strategy();
  if (setting == "ps_shards" && point.row.shards() > 0) return absl::StrCat(point.row.shards());
  return Setting(*point.runs.front(), setting);
}

absl::optional<double> MeasuredCheckpointSeconds(const std::vector<SweepPoint>& points,
                                                 int64_t elements) {
  std::vector<double> seconds;
  for (const SweepPoint& point : points) {
    for (const RunResult* run : point.runs) {
      double stood_still_s = 0;
      int64_t written = 0;
      for (const WorkerResult& worker : run->worker_results()) {
        stood_still_s += worker.checkpoints().copy_s() + worker.checkpoints().wait_s();
        written += worker.checkpoints().written();
      }
      if (written == 0 || run->parameter_elements() == 0) continue;
      seconds.push_back(stood_still_s / static_cast<double>(written) *
                        static_cast<double>(elements) /
                        static_cast<double>(run->parameter_elements()));
    }
  }
  if (seconds.empty()) return absl::nullopt;
  return Median(seconds);
}

}  // namespace ringside
