#include "experiments/report/run_samples.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "experiments/report/number_text.h"
#include "experiments/report/series.h"
#include "experiments/report/server_mode.h"

namespace ringside {

namespace {

// What the ranks have recorded of one step.
struct RecordedStep {
  StepSample sample;    // its step_s is that of the slowest rank
  int64_t samples = 0;  // of all ranks that took it
  double rate = 0;      // samples/s of all ranks together
};

void AddRecord(const StepRecord& record, RecordedStep& step) {
  step.sample.step = record.step();
  step.sample.step_s = std::max(step.sample.step_s, record.step_s());
  step.sample.global_samples = record.global_samples();
  step.sample.loss += record.loss();
  step.samples += record.samples();
  if (record.step_s() > 0) step.rate += static_cast<double>(record.samples()) / record.step_s();
}

// Makes of the sample what it is in the mode of the run (run_samples.h).
StepSample InMode(const RecordedStep& step, const PsPolicy& policy, int workers) {
  StepSample sample = step.sample;
  if (policy.is_asynchronous() && step.rate > 0)
    sample.step_s = static_cast<double>(sample.global_samples) / step.rate;
  if (policy.mode == PsMode::kBackup) {
    if (step.samples > 0) {
      sample.loss *= static_cast<double>(sample.global_samples) / static_cast<double>(step.samples);
    }
    sample.global_samples = sample.global_samples * (workers - policy.backup_workers) / workers;
  }
  return sample;
}

}  // namespace

std::vector<StepSample> StepSamples(const RunResult& run) {
  std::map<int64_t, RecordedStep> by_step;
  for (const WorkerResult& worker : run.worker_results()) {
    for (const StepRecord& record : worker.steps()) AddRecord(record, by_step[record.step()]);
  }
  const PsPolicy policy = PolicyOf(run);
  std::vector<StepSample> samples;
  for (const auto& entry : by_step)
    samples.push_back(InMode(entry.second, policy, std::max(run.workers(), 1)));
  return samples;
}

std::vector<StepSample> CountedSteps(const RunResult& run) {
  std::vector<StepSample> samples = StepSamples(run);
  samples.erase(std::remove_if(
                    samples.begin(), samples.end(),
                    [&run](const StepSample& sample) { return sample.step <= run.warmup_steps(); }),
                samples.end());
  return samples;
}

StepRecord MeanStep(const std::vector<const RunResult*>& runs) {
  StepRecord sum;
  int64_t records = 0;
  for (const RunResult* run : runs) {
    for (const WorkerResult& worker : run->worker_results()) {
      for (const StepRecord& record : worker.steps()) {
        if (record.step() <= run->warmup_steps()) continue;
        ++records;
        sum.set_step_s(sum.step_s() + record.step_s());
        sum.set_data_s(sum.data_s() + record.data_s());
        sum.set_forward_s(sum.forward_s() + record.forward_s());
        sum.set_backward_s(sum.backward_s() + record.backward_s());
        sum.set_hidden_comm_s(sum.hidden_comm_s() + record.hidden_comm_s());
        sum.set_exposed_comm_s(sum.exposed_comm_s() + record.exposed_comm_s());
        sum.set_optimizer_s(sum.optimizer_s() + record.optimizer_s());
        sum.set_wait_slowest_s(sum.wait_slowest_s() + record.wait_slowest_s());
        sum.set_ready_s(sum.ready_s() + record.ready_s());
      }
    }
  }
  StepRecord mean;
  if (records == 0) return mean;
  const auto count = static_cast<double>(records);
  mean.set_step_s(sum.step_s() / count);
  mean.set_data_s(sum.data_s() / count);
  mean.set_forward_s(sum.forward_s() / count);
  mean.set_backward_s(sum.backward_s() / count);
  mean.set_hidden_comm_s(sum.hidden_comm_s() / count);
  mean.set_exposed_comm_s(sum.exposed_comm_s() / count);
  mean.set_optimizer_s(sum.optimizer_s() / count);
  mean.set_wait_slowest_s(sum.wait_slowest_s() / count);
  mean.set_ready_s(sum.ready_s() / count);
  mean.set_other_s(mean.step_s() - mean.data_s() - mean.forward_s() - mean.backward_s() -
                   mean.exposed_comm_s() - mean.optimizer_s());
  return mean;
}

std::string RunName(const RunResult& run) {
  std::string name = absl::StrCat(run.strategy(), ", ", Counted(run.workers(), "worker"));
  if (run.shards() > 0) absl::StrAppend(&name, ", ", Counted(run.shards(), "shard"));
  return absl::StrCat(name, ", trial ", run.trial());
}

int WorkerProcesses(const RunResult& run) {
  return IsOneProcess(run.strategy()) ? 1 : run.workers();
}

}  // namespace ringside
