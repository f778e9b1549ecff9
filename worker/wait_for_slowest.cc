#include "worker/wait_for_slowest.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "common/trace/clock_alignment.h"

namespace ringside {

void FillWaitForSlowest(int backup_workers, RunResult* run) {
  if (run->worker_results_size() < 2) return;
  std::map<int64_t, std::vector<int64_t>> ready;  // by step
  for (const WorkerResult& worker : run->worker_results()) {
    for (const StepRecord& record : worker.steps()) {
      ready[record.step()].push_back(CoordinatorTime(worker.clock(), record.ready_at_ns()));
    }
  }
  for (auto& [step, times] : ready) std::sort(times.begin(), times.end());
  for (WorkerResult& worker : *run->mutable_worker_results()) {
    for (StepRecord& record : *worker.mutable_steps()) {
      const std::vector<int64_t>& times = ready[record.step()];
      const int needed = run->worker_results_size() - backup_workers;
      const int last = std::min<int>(needed, static_cast<int>(times.size())) - 1;
      const int64_t own = CoordinatorTime(worker.clock(), record.ready_at_ns());
      const double wait = static_cast<double>(times[std::max(last, 0)] - own) / 1e9;
      record.set_wait_slowest_s(std::max(0.0, std::min(wait, record.exposed_comm_s())));
    }
  }
}

}  // namespace ringside
