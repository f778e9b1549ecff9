#include "experiments/trial_order.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace ringside {

std::vector<PlannedJob> MakeTrialOrder(const std::vector<std::string>& strategies,
                                       const std::vector<int>& worker_counts, int trials) {
  std::vector<PlannedJob> order;
  for (int workers : worker_counts) {
    for (int trial = 1; trial <= trials; ++trial) {
      std::vector<std::string> sequence = strategies;
      if (trial % 2 == 0) std::reverse(sequence.begin(), sequence.end());
      for (const std::string& strategy : sequence) order.push_back({strategy, workers, trial});
    }
  }
  return order;
}

std::string FolderName(const PlannedJob& job) {
  return absl::StrCat(job.strategy, "-w", job.workers, "-t", job.trial);
}

std::string Title(const PlannedJob& job) {
  return absl::StrCat(job.strategy, ", ", job.workers, job.workers == 1 ? " worker" : " workers",
                      ", trial ", job.trial);
}

}  // namespace ringside
