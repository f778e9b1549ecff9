#include "experiments/report/cells.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "experiments/report/run_samples.h"
#include "experiments/report/series.h"
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

Cell BuildCell(const std::vector<const RunResult*>& runs) {
  const RunResult& first = *runs.front();
  Cell cell;
  cell.set_strategy(first.strategy());
  cell.set_workers(first.workers());
  cell.set_shards(first.shards());
  cell.set_batch_size(first.batch_size());
  cell.set_global_batch_size(first.global_batch_size());
  cell.set_trials(static_cast<int>(runs.size()));
  cell.set_transport(TransportOf(runs));
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

// Speed-up and efficiency over the smallest number of workers of the same series. The oracle has
// neither: it plays all ranks in one process.
void FillScaling(std::vector<Cell>& cells) {
  const SeriesNames names(cells);
  std::map<std::string, Cell> baselines;
  for (Cell& cell : cells) {  // smallest number of workers first
    if (IsOracle(cell.strategy()) || cell.samples_per_s().median() <= 0) continue;
    const Cell& baseline = baselines.emplace(names.Of(cell), cell).first->second;
    cell.set_baseline_workers(baseline.workers());
    cell.set_speed_up(cell.samples_per_s().median() / baseline.samples_per_s().median());
    cell.set_efficiency(cell.speed_up() * baseline.workers() / cell.workers());
  }
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
    if (run.strategy() == cell.strategy() && run.workers() == cell.workers() &&
        run.shards() == cell.shards() && CellTransport(run) == CellTransport(cell)) {
      found.push_back(&run);
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const RunResult* a, const RunResult* b) { return a->trial() < b->trial(); });
  return found;
}

std::vector<Cell> BuildCells(const std::vector<RunResult>& runs) {
  std::vector<Cell> keys;
  std::set<std::tuple<int, std::string, int, std::string>> seen;
  for (const RunResult& run : runs) {
    const std::string transport = CellTransport(run);
    if (!seen.insert({run.workers(), run.strategy(), run.shards(), transport}).second) continue;
    Cell& key = keys.emplace_back();
    key.set_workers(run.workers());
    key.set_strategy(run.strategy());
    key.set_shards(run.shards());
    key.set_transport(transport);
  }
  std::sort(keys.begin(), keys.end(), [](const Cell& a, const Cell& b) {
    if (a.workers() != b.workers()) return a.workers() < b.workers();
    if (a.strategy() != b.strategy()) return StrategyLess(a.strategy(), b.strategy());
    if (a.shards() != b.shards()) return a.shards() < b.shards();
    return a.transport() < b.transport();
  });
  std::vector<Cell> cells;
  for (const Cell& key : keys) cells.push_back(BuildCell(RunsOf(key, runs)));
  FillScaling(cells);
  return cells;
}

}  // namespace ringside
