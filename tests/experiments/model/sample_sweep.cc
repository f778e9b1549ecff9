#include "tests/experiments/model/sample_sweep.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "common/check.h"
#include "experiments/model/cost_fit.h"
#include "experiments/model/step_simulator.h"
#include "experiments/model/sweep_points.h"

namespace ringside {
namespace {

constexpr int64_t kResnet18 = 11'689'512;
constexpr int64_t kWarmup = 2;

void AddProcess(const SampleSweep& sample, ProcessInfo* process) {
  process->set_hostname("bench-01");
  for (int cpu = 0; cpu < sample.cores; ++cpu) process->add_cpus(cpu);
}

// All of a run but its steps' times.
RunResult MakeRun(const SampleSweep& sample, const std::string& strategy, int workers,
                  const std::string& network, int trial) {
  RunResult run;
  run.set_strategy(strategy);
  run.set_workers(workers);
  run.set_trial(trial);
  run.set_shards(strategy == "ps" ? sample.shards : 0);
  run.set_parameter_elements(kResnet18);
  run.set_warmup_steps(kWarmup);
  run.set_total_steps(sample.steps);
  auto& settings = *run.mutable_settings();
  settings["network"] = network;
  settings["placement"] = sample.placement;
  settings["model"] = "shapes";
  settings["model_args"] = sample.model_args;
  settings["wire_dtype"] = "fp32";
  settings["overlap"] = "on";
  settings["batch_size"] = "8";
  settings["ps_mode"] = "sync";
  settings["bucket_bytes"] = "4194304";
  settings["first_bucket_bytes"] = "262144";
  for (int rank = 0; rank < workers; ++rank) {
    WorkerResult* worker = run.add_worker_results();
    worker->set_rank(rank);
    AddProcess(sample, worker->mutable_process());
    if (strategy == "ring") (*worker->mutable_process()->mutable_facts())["left_link"] = "tcp";
    for (int64_t step = 1; step <= sample.steps; ++step) {
      StepRecord* record = worker->add_steps();
      record->set_step(step);
      record->set_samples(8);
      record->set_global_samples(8 * workers);
      record->set_forward_s(0.0167);
      record->set_backward_s(0.0335);
      record->set_optimizer_s(0.006 * std::max(1.0, static_cast<double>(workers) / sample.cores));
      record->set_step_s(1);
    }
  }
  for (int shard = 0; shard < run.shards(); ++shard) {
    ShardResult* result = run.add_shard_results();
    AddProcess(sample, result->mutable_process());
    const auto bytes = static_cast<double>(kResnet18 * 4 / sample.shards * workers * sample.steps);
    result->mutable_traffic()->set_payload_bytes_received(static_cast<int64_t>(bytes));
    result->mutable_traffic()->set_payload_bytes_sent(static_cast<int64_t>(bytes));
    result->set_fold_s(bytes * TrueModel().gamma_s_per_byte());
    result->mutable_process()->set_cpu_seconds(
        bytes * (TrueModel().gamma_s_per_byte() + 2 * TrueModel().server_cpu_s_per_byte()));
  }
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

ComparisonResult MakeSweep(const SampleSweep& sample) {
  ComparisonResult comparison;
  comparison.add_varied("network");
  for (const std::string& network : sample.networks) {
    for (int workers : sample.workers) {
      for (const std::string& strategy : sample.strategies) {
        for (int trial = 0; trial < sample.trials; ++trial) {
          *comparison.add_runs() = MakeRun(sample, strategy, workers, network, trial);
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
