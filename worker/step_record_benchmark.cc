// What the record of a step costs, from being kept to being written.
#include <benchmark/benchmark.h>

#include "results.pb.h"
#include "worker/step_writer.h"

namespace ringside {
namespace {

StepRecord Record(int64_t step) {
  StepRecord record;
  record.set_step(step);
  record.set_epoch(3);
  record.set_loss(0.123456789 / static_cast<double>(step));
  record.set_samples(32);
  record.set_global_samples(128);
  record.set_step_s(0.005123456);
  record.set_data_s(0.000123456);
  record.set_forward_s(0.001345678);
  record.set_backward_s(0.002765432);
  record.set_hidden_comm_s(0.001234567);
  record.set_exposed_comm_s(0.000654321);
  record.set_optimizer_s(0.000212345);
  record.set_other_s(0.000021234);
  record.set_ready_s(0.004222222);
  record.set_first_ready_at_ns(123456789012345 + step);
  record.set_ready_at_ns(123456789112345 + step);
  return record;
}

// The copy for the results, and the line in steps/worker-R.jsonl.
void BM_StepRecord(benchmark::State& state) {
  WorkerResult result;
  int64_t step = 0;
  size_t bytes = 0;
  for (auto _ : state) {
    *result.add_steps() = Record(++step);
    bytes += ToJsonLine(result.steps(static_cast<int>(step - 1))).size();
  }
  if (bytes == 0) state.SkipWithError("no line");
}
BENCHMARK(BM_StepRecord);

}  // namespace
}  // namespace ringside

BENCHMARK_MAIN();
