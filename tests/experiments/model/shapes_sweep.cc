#include "tests/experiments/model/shapes_sweep.h"

#include <algorithm>
#include <random>

#include "common/check.h"
#include "experiments/model/cost_fit.h"
#include "experiments/model/step_simulator.h"
#include "experiments/model/sweep_points.h"
#include "experiments/report/comparison.h"
#include "tests/experiments/report/sample_runs.h"

namespace ringside {
namespace {

constexpr int64_t kResnet18 = 11'689'512;
constexpr int kCores = 2;  // of the machine of MakeRun

// Of the same time whatever the run: MakeSweep sets what the step takes.
void SetStep(int workers, StepRecord* record) {
  const int64_t step = record->step();
  record->Clear();
  record->set_step(step);
  record->set_samples(8);
  record->set_global_samples(8 * workers);
  record->set_forward_s(0.0167);
  record->set_backward_s(0.0335);
  record->set_optimizer_s(0.006 * std::max(1.0, static_cast<double>(workers) / kCores));
  record->set_step_s(1);
}

// What moving and folding all gradients takes a shard.
void SetWork(const ShapesSweep& sample, int workers, ShardResult* shard) {
  const auto bytes = static_cast<double>(kResnet18 * 4 / sample.shards * workers * sample.steps);
  shard->mutable_traffic()->set_payload_bytes_received(static_cast<int64_t>(bytes));
  shard->mutable_traffic()->set_payload_bytes_sent(static_cast<int64_t>(bytes));
  shard->set_fold_s(bytes * TrueModel().gamma_s_per_byte());
  shard->mutable_process()->set_cpu_seconds(
      bytes * (TrueModel().gamma_s_per_byte() + 2 * TrueModel().server_cpu_s_per_byte()));
}

// All of a run but its steps' times.
RunResult ShapesRun(const ShapesSweep& sample, const std::string& strategy, int workers,
                    const std::string& network, int trial) {
  SampleRun like;
  like.strategy = strategy;
  like.workers = workers;
  like.shards = strategy == "ps" ? sample.shards : 0;
  like.trial = trial;
  like.steps = sample.steps;
  like.warmup_steps = 2;
  like.batch_size = 8;
  like.checkpoints = sample.checkpoints;
  RunResult run = MakeRun(like);
  run.set_parameter_elements(kResnet18);
  auto& settings = *run.mutable_settings();
  settings["network"] = network;
  settings["placement"] = sample.placement;
  settings["model"] = "shapes";
  settings["model_args"] = sample.model_args;
  for (WorkerResult& worker : *run.mutable_worker_results()) {
    for (StepRecord& record : *worker.mutable_steps()) SetStep(workers, &record);
  }
  for (ShardResult& shard : *run.mutable_shard_results()) SetWork(sample, workers, &shard);
  return run;
}

}  // namespace

CostModel TrueModel() {
  CostModel model;
  model.set_alpha_s(15e-6);
  model.set_server_alpha_s(60e-6);
  model.set_cpu_s_per_byte(0.5e-9);
  model.set_server_cpu_s_per_byte(0.9e-9);
  model.set_beta_s_per_byte(0.25e-9);
  model.set_gamma_s_per_byte(0.12e-9);
  model.set_link_share(0.97);
  ComputeCost cost;
  cost.set_before_backward_s(0.0167);
  cost.set_backward_s(0.0335);
  cost.set_after_s(0.006);
  for (const char* args : {"preset=resnet18,compute_ms=50", "preset=resnet18,compute_ms=50.0"}) {
    (*model.mutable_compute())[std::string("shapes ") + args] = cost;
  }
  return model;
}

ComparisonResult MakeSweep(const ShapesSweep& sample) {
  ComparisonResult comparison;
  comparison.set_schema_version(kResultsSchemaVersion);
  comparison.add_varied("network");
  for (const std::string& network : sample.networks) {
    for (int workers : sample.workers) {
      for (const std::string& strategy : sample.strategies) {
        for (int trial = 0; trial < sample.trials; ++trial) {
          *comparison.add_runs() = ShapesRun(sample, strategy, workers, network, trial);
        }
      }
    }
  }
  std::mt19937_64 random(1);
  std::normal_distribution<double> noise(1, sample.noise);
  const ComparisonResult without_times = comparison;
  for (const SweepPoint& point : PointsOf(without_times)) {
    const auto job = JobUnder(TrueModel(), point);
    RINGSIDE_CHECK(job.ok());
    const auto steps = SimulateSteps(*job, {});
    RINGSIDE_CHECK(steps.ok());
    for (const RunResult* run : point.runs) {
      for (RunResult& other : *comparison.mutable_runs()) {
        const bool same = other.strategy() == run->strategy() &&
                          other.workers() == run->workers() && other.trial() == run->trial() &&
                          other.settings().at("network") == run->settings().at("network");
        if (!same) continue;
        for (int64_t step = 0; step < sample.steps; ++step) {
          const double seconds = steps->front() * noise(random);
          for (WorkerResult& worker : *other.mutable_worker_results()) {
            worker.mutable_steps(static_cast<int>(step))->set_step_s(seconds);
          }
        }
      }
    }
  }
  return comparison;
}

}  // namespace ringside
