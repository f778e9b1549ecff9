#include "worker/global_loss.h"

#include <map>

#include "common/global_loss.h"

namespace ringside {

std::vector<GlobalLoss> GlobalLosses(const RunResult& run) {
  struct Parts {
    double loss = 0;
    int64_t samples = 0;
    int64_t global_samples = 0;
  };
  std::map<int64_t, Parts> by_step;
  for (const WorkerResult& worker : run.worker_results()) {
    for (const StepRecord& record : worker.steps()) {
      Parts& parts = by_step[record.step()];
      parts.loss += record.loss();
      parts.samples += record.samples();
      parts.global_samples = record.global_samples();
    }
  }
  std::vector<GlobalLoss> losses;
  for (const auto& [step, parts] : by_step) {
    if (parts.samples == 0) continue;
    losses.push_back({step, GlobalLossOf(parts.loss, parts.samples, parts.global_samples)});
  }
  return losses;
}

}  // namespace ringside
