#include "experiments/report/cells.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

#include "experiments/report/comparability.h"
#include "experiments/report/core_load.h"
#include "experiments/report/run_samples.h"
#include "experiments/report/scaling_baseline.h"
#include "experiments/report/series.h"
#include "experiments/report/setting_text.h"
#include "experiments/report/transport.h"

namespace ringside {
namespace {

// What tells cells of one strategy apart by transport: nothing but for a parameter server, whose
// link a comparison may be about.
std::string CellTransport(const RunResult& run) {
  return IsParameterServer(run.strategy()) ? TransportOf(run) : "";
}
std::string CellTransport(const Cell& cell) {
  return IsParameterServer(cell.strategy()) ? cell.transport() : "";
}

std::string CellPlacement(const RunResult& run) {
  return IsParameterServer(run.strategy()) ? SettingOf(run, "placement") : "";
}

bool KeyLess(const Cell& a, const Cell& b) {
  if (a.workers() != b.workers()) return a.workers() < b.workers();
  const Point at_a = PointOf(a);
  const Point at_b = PointOf(b);
  if (at_a != at_b) return PointLess(at_a, at_b);
  if (a.strategy() != b.strategy()) return StrategyLess(a.strategy(), b.strategy());
  if (a.shards() != b.shards()) return a.shards() < b.shards();
  if (a.transport() != b.transport()) return a.transport() < b.transport();
  return a.placement() < b.placement();
}

void FillTimes(const std::vector<const RunResult*>& runs, Cell& cell) {
  const Trials step_times = StepTimes(runs);
  const std::vector<double> pooled = Pooled(step_times);
  *cell.mutable_step_s() = ToProto(MedianInterval(step_times));
  cell.set_p90_step_s(Percentile(pooled, 0.9));
  cell.set_p99_step_s(Percentile(pooled, 0.99));
  cell.set_mad_step_s(MedianAbsoluteDeviation(pooled));
  cell.set_counted_steps(static_cast<int64_t>(pooled.size()));
  std::vector<double> medians;
  for (const std::vector<double>& trial : step_times) {
    if (!trial.empty()) medians.push_back(Median(trial));
  }
  cell.set_cv(CoefficientOfVariation(medians));
}

void FillThroughput(const std::vector<const RunResult*>& runs, Cell& cell) {
  Trials rates;
  double samples = 0;
  double seconds = 0;
  for (const RunResult* run : runs) {
    rates.emplace_back();
    for (const StepSample& sample : CountedSteps(*run)) {
      samples += static_cast<double>(sample.global_samples);
      seconds += sample.step_s;
      if (sample.step_s > 0) {
        rates.back().push_back(static_cast<double>(sample.global_samples) / sample.step_s);
      }
    }
  }
  *cell.mutable_samples_per_s() = ToProto(MedianInterval(rates));
  cell.set_sustained_samples_per_s(seconds > 0 ? samples / seconds : 0);
}

void FillLoad(const std::vector<const RunResult*>& runs, Cell& cell) {
  for (const RunResult* run : runs) {
    const CoreLoad load = LoadOf(*run);
    const CoreLoad worst = LoadOf(cell);
    if (worst.threads > 0 && load.threads * worst.cores <= worst.threads * load.cores) continue;
    cell.set_busy_threads(load.threads);
    cell.set_busy_cores(load.cores);
  }
}

// What tells the cell from others is that of `key`.
Cell BuildCell(const Cell& key, const std::vector<const RunResult*>& runs) {
  const RunResult& first = *runs.front();
  Cell cell = key;
  cell.set_batch_size(first.batch_size());
  cell.set_global_batch_size(first.global_batch_size());
  cell.set_trials(static_cast<int>(runs.size()));
  cell.set_transport(TransportOf(runs));
  FillLoad(runs, cell);
  FillTimes(runs, cell);
  FillThroughput(runs, cell);
  *cell.mutable_mean_step() = MeanStep(runs);
  std::set<std::string> hashes;
  double accuracy = 0;
  for (const RunResult* run : runs) {
    for (const WorkerResult& worker : run->worker_results())
      hashes.insert(worker.parameters_sha256());
    accuracy += run->evaluation().accuracy() / static_cast<double>(runs.size());
  }
  for (const std::string& hash : hashes) cell.add_hashes(hash);
  cell.set_accuracy(accuracy);
  return cell;
}

}  // namespace

Interval ToProto(const IntervalEstimate& estimate) {
  Interval interval;
  interval.set_low(estimate.low);
  interval.set_median(estimate.median);
  interval.set_high(estimate.high);
  return interval;
}

Trials StepTimes(const std::vector<const RunResult*>& runs) {
  Trials trials;
  for (const RunResult* run : runs) {
    trials.emplace_back();
    for (const StepSample& sample : CountedSteps(*run)) trials.back().push_back(sample.step_s);
  }
  return trials;
}

std::vector<const RunResult*> RunsOf(const Cell& cell, const std::vector<RunResult>& runs) {
  std::vector<const RunResult*> found;
  for (const RunResult& run : runs) {
    const bool there = std::all_of(
        cell.point().begin(), cell.point().end(),
        [&run](const auto& entry) { return InvariantOf(run, entry.first) == entry.second; });
    if (there && run.strategy() == cell.strategy() && run.workers() == cell.workers() &&
        run.shards() == cell.shards() && CellTransport(run) == CellTransport(cell) &&
        CellPlacement(run) == cell.placement()) {
      found.push_back(&run);
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const RunResult* a, const RunResult* b) { return a->trial() < b->trial(); });
  return found;
}

std::vector<Cell> BuildCells(const std::vector<RunResult>& runs, const PointSpace& space) {
  std::vector<Cell> keys;
  std::set<std::tuple<int, Point, std::string, int, std::string, std::string>> seen;
  for (const RunResult& run : runs) {
    const Point point = space.Of(run);
    const std::string transport = CellTransport(run);
    const std::string placement = CellPlacement(run);
    if (!seen.insert({run.workers(), point, run.strategy(), run.shards(), transport, placement})
             .second)
      continue;
    Cell& key = keys.emplace_back();
    key.set_workers(run.workers());
    key.set_strategy(run.strategy());
    key.set_shards(run.shards());
    key.set_transport(transport);
    key.set_placement(placement);
    key.mutable_point()->insert(point.begin(), point.end());
  }
  std::sort(keys.begin(), keys.end(), KeyLess);
  std::vector<Cell> cells;
  for (const Cell& key : keys) cells.push_back(BuildCell(key, RunsOf(key, runs)));
  FillScaling(cells);
  return cells;
}

}  // namespace ringside
