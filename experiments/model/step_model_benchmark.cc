// How long the simulation of one step takes: 1,024 workers of ResNet-50 are to need less than 10 s.
#include <benchmark/benchmark.h>

#include "common/bucket_plan.h"
#include "common/check.h"
#include "common/shape_presets.h"
#include "experiments/model/step_simulator.h"

namespace ringside {
namespace {

StepJob Resnet50(int workers, int shards) {
  const auto shapes = PresetShapes("resnet50");
  StepJob job;
  job.workers = workers;
  job.servers = shards > 0;
  job.shards = shards;
  job.buckets = BucketsOf(BucketPlan::Create(*shapes, 256 << 10, 4 << 20)->lengths());
  job.costs = {10e-6, 0.3e-9, 0.1e-9, 0.4e-9};
  job.compute = {0.04, 0.08, 0.005, 0.003, false};
  job.network = {25e9 / 8, 20e-6};
  return job;
}

void BM_SimulateStep(benchmark::State& state) {
  const StepJob job = Resnet50(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  for (auto _ : state) {
    const auto steps = SimulateSteps(job, {});
    RINGSIDE_CHECK(steps.ok() && steps->front() > 0.12);
    state.counters["step_ms"] = steps->front() * 1e3;
  }
}
BENCHMARK(BM_SimulateStep)
    ->ArgNames({"workers", "shards"})
    ->Args({8, 0})
    ->Args({64, 0})
    ->Args({1024, 0})
    ->Args({8, 1})
    ->Args({64, 8})
    ->Args({1024, 1})
    ->Args({1024, 64})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ringside

BENCHMARK_MAIN();
