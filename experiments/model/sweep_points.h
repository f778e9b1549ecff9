// What the cost model takes from the results of a sweep or a comparison: every setting that was
// run, as a job that can be estimated and simulated, with what was measured. Pure.
#ifndef RINGSIDE_EXPERIMENTS_MODEL_SWEEP_POINTS_H_
#define RINGSIDE_EXPERIMENTS_MODEL_SWEEP_POINTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "experiments/model/step_job.h"
#include "results.pb.h"

namespace ringside {

// All runs (trials) of one setting.
struct SweepPoint {
  ForecastRow row;  // who and what, and the measured step
  StepJob job;      // all but costs and compute times; the network as measured, else as asked for
  bool shaped = false;
  bool probed = false;    // the bandwidth was measured before the run
  std::string base;       // model and arguments: runs that differ in the batch share it
  double rank_batch = 0;  // samples of a rank and step
  ComputeTimes compute;   // measured: medians over ranks and counted steps
  int64_t counted_steps = 0;
  // Of the shards, 0 where there is no evidence: seconds per byte of folding, and of a core for
  // moving.
  double gamma_s_per_byte = 0;
  double server_cpu_s_per_byte = 0;
  std::vector<const RunResult*> runs;
};

// Those that the model knows: ring and synchronous ps, without injected stragglers, with counted
// steps. In the order of their first run. Points into `comparison`.
std::vector<SweepPoint> PointsOf(const ComparisonResult& comparison);

// "shapes preset=resnet18,compute_ms=50, batch 8".
std::string WorkloadOf(const SweepPoint& point);

// A point for tests and forecasts that say where they stand: value of a setting by flag name;
// "workers", "strategy" and "placement" are settings too.
std::string SettingOf(const SweepPoint& point, const std::string& setting);

// What worker 0 stood still for a checkpoint of a model of `elements` parameters: the median of
// the runs that wrote some, in proportion to their parameters. Empty: none did.
absl::optional<double> MeasuredCheckpointSeconds(const std::vector<SweepPoint>& points,
                                                 int64_t elements);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MODEL_SWEEP_POINTS_H_
