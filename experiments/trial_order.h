// In which order the jobs of a comparison run. Pure.
#ifndef RINGSIDE_EXPERIMENTS_TRIAL_ORDER_H_
#define RINGSIDE_EXPERIMENTS_TRIAL_ORDER_H_

#include <string>
#include <vector>

namespace ringside {

struct PlannedJob {
  std::string strategy;
  int workers = 0;
  int trial = 0;  // counts from 1

  friend bool operator==(const PlannedJob& a, const PlannedJob& b) {
    return a.strategy == b.strategy && a.workers == b.workers && a.trial == b.trial;
  }
};

// For each number of workers and each trial all strategies one after the other, forward in odd
// trials and backward in even ones (A B, B A, ...): a machine that grows steadily slower or faster
// then favours none of them.
std::vector<PlannedJob> MakeTrialOrder(const std::vector<std::string>& strategies,
                                       const std::vector<int>& worker_counts, int trials);

// "ring-w2-t1": the job's folder within runs/.
std::string FolderName(const PlannedJob& job);
// "ring, 2 workers, trial 1"
std::string Title(const PlannedJob& job);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_TRIAL_ORDER_H_
