#include "tests/experiments/report/sample_sweep.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "experiments/report/comparison.h"
#include "tests/experiments/report/sample_runs.h"

namespace ringside {
namespace {

constexpr int kBandwidths[] = {100, 400, 1000};

std::string NetworkText(int mbit) { return absl::StrCat(mbit, "mbit,100us"); }

// Communication goes with the inverse of the bandwidth; a server's NIC is shared by all workers.
double StepSeconds(const std::string& strategy, int workers, int mbit) {
  const double bytes = strategy == "ring" ? 2.0 * (workers - 1) / workers : workers;
  const double alpha_s = strategy == "ring" ? 0.0012 * 2 * (workers - 1) : 0.0024;
  return 0.020 + alpha_s + bytes * 0.9 / mbit;
}

std::vector<RunResult> RunsAt(int mbit, int trials, int64_t steps) {
  std::vector<RunResult> runs;
  for (int trial = 1; trial <= trials; ++trial) {
    for (const int workers : {2, 4}) {
      for (const char* strategy : {"ps", "ring"}) {
        SampleRun sample;
        sample.strategy = strategy;
        sample.workers = workers;
        sample.shards = std::string(strategy) == "ps" ? 1 : 0;
        sample.trial = trial;
        sample.steps = steps;
        sample.warmup_steps = 1;
        sample.batch_size = 128 / workers;
        sample.step_s = StepSeconds(strategy, workers, mbit);
        sample.noise = 0.04;
        sample.link = sample.shards > 0 ? "" : "tcp";
        sample.slow_rank = workers == 4 ? 3 : -1;
        sample.slow_s = 0.012;
        sample.bandwidth_mbit = mbit;
        runs.push_back(MakeRun(sample));
      }
    }
  }
  return runs;
}

void AddForecastRow(const Cell& cell, bool in_fit, double error, Forecast* forecast) {
  ForecastRow& row = *forecast->add_rows();
  row.set_strategy(cell.strategy());
  row.set_workers(cell.workers());
  row.set_shards(cell.shards());
  if (cell.shards() > 0) row.set_placement("dedicated");
  *row.mutable_point() = cell.point();
  *row.mutable_measured_s() = cell.step_s();
  row.set_predicted_s(cell.step_s().median() * (1 + error));
  row.set_simulated_s(cell.step_s().median() * (1 + error / 2));
  row.set_in_fit(in_fit);
  row.set_efficiency(0.8);
}

void AddForecast(ComparisonResult* sweep) {
  Forecast& forecast = *sweep->mutable_forecast();
  CostModel& model = *forecast.mutable_model();
  model.set_alpha_s(180e-6);
  model.set_beta_s_per_byte(0.21e-9);
  model.set_gamma_s_per_byte(0.12e-9);
  model.set_compute_s(0.020);
  model.set_compute_spread_s(0.0004);
  model.set_cpu_s_per_byte(0.35e-9);
  model.set_points(8);
  model.set_residual_rms(0.031);
  double error = -0.09;
  for (const Cell& cell : sweep->cells()) {
    const bool held_out = cell.point().at("network") == NetworkText(400);
    AddForecastRow(cell, !held_out, held_out ? error : error / 3, &forecast);
    error += 0.015;
  }
  for (const char* strategy : {"ps", "ring"}) {
    ForecastRow& row = *forecast.add_rows();
    row.set_strategy(strategy);
    row.set_workers(64);
    row.set_shards(std::string(strategy) == "ps" ? 8 : 0);
    row.set_placement(row.shards() > 0 ? "colocated" : "");
    (*row.mutable_point())["network"] = "25gbit,20us";
    row.set_predicted_s(0.0241);
    row.set_efficiency(0.83);
  }
}

void AddCrossover(ComparisonResult* sweep) {
  Crossover& crossover = *sweep->add_crossovers();
  crossover.set_setting("network");
  crossover.set_workers(4);
  crossover.set_faster_below("ring");
  crossover.set_faster_above("ps");
  crossover.set_unit("Mbit/s");
  crossover.set_below(400);
  crossover.set_above(1000);
  crossover.set_interpolated(true);
  crossover.mutable_value()->set_low(458);
  crossover.mutable_value()->set_median(472);
  crossover.mutable_value()->set_high(489);
  Crossover& vague = *sweep->add_crossovers();
  vague = crossover;
  vague.set_workers(2);
  vague.set_interpolated(false);
  vague.set_below(100);
  vague.set_above(400);
}

}  // namespace

ComparisonResult SampleSweep(int trials, int64_t steps) {
  ComparisonResult sweep;
  sweep.set_question("Below which bandwidth is the ring faster than a parameter server?");
  sweep.add_varied("network");
  for (const int mbit : kBandwidths) {
    ComparisonResult part = BuildComparison(
        RunsAt(mbit, trials, steps),
        {"ringside", "sweep", "experiments/specs/bandwidth.textproto", "--out=out/bandwidth"},
        SampleProvenance());
    for (Cell& cell : *part.mutable_cells()) {
      (*cell.mutable_point())["network"] = NetworkText(mbit);
      cell.set_placement(cell.shards() > 0 ? "dedicated" : "");
    }
    for (Contrast& contrast : *part.mutable_contrasts())
      (*contrast.mutable_point())["network"] = NetworkText(mbit);
    for (std::string& line : *part.mutable_verdict())
      line.insert(line.find(':'), absl::StrCat(", network ", NetworkText(mbit)));
    if (mbit != kBandwidths[0]) {
      part.clear_gates();
      part.clear_command();
      part.clear_provenance();
      part.clear_warnings();
    }
    sweep.MergeFrom(part);
  }
  sweep.set_schema_version(kResultsSchemaVersion);
  sweep.add_warnings(
      "Skipped: network 10gbit,100us: this machine cannot shape more than 4 Gbit/s.");
  AddCrossover(&sweep);
  AddForecast(&sweep);
  return sweep;
}

}  // namespace ringside
