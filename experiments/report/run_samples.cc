#include "experiments/report/run_samples.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "experiments/report/number_text.h"
#include "experiments/report/series.h"

namespace ringside {

std::vector<StepSample> StepSamples(const RunResult& run) {
  std::map<int64_t, StepSample> by_step;
  for (const WorkerResult& worker : run.worker_results()) {
    for (const StepRecord& record : worker.steps()) {
      StepSample& sample = by_step[record.step()];
      sample.step = record.step();
      sample.step_s = std::max(sample.step_s, record.step_s());
      sample.global_samples = record.global_samples();
      sample.loss += record.loss();
    }
  }
  std::vector<StepSample> samples;
  for (const auto& entry : by_step) samples.push_back(entry.second);
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
  mean.set_other_s(mean.step_s() - mean.data_s() - mean.forward_s() - mean.backward_s() -
                   mean.exposed_comm_s() - mean.optimizer_s());
  return mean;
}

std::string RunName(const RunResult& run) {
  std::string name = absl::StrCat(run.strategy(), ", ", Counted(run.workers(), "worker"));
  if (run.shards() > 0) absl::StrAppend(&name, ", ", Counted(run.shards(), "shard"));
  return absl::StrCat(name, ", trial ", run.trial());
}

int WorkerProcesses(const RunResult& run) { return IsOracle(run.strategy()) ? 1 : run.workers(); }

}  // namespace ringside
