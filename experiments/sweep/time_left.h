// How long the rest of a sweep will take, by the jobs that have ended. Pure.
#ifndef RINGSIDE_EXPERIMENTS_SWEEP_TIME_LEFT_H_
#define RINGSIDE_EXPERIMENTS_SWEEP_TIME_LEFT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "experiments/sweep/sweep_plan.h"

namespace ringside {

// A job is expected to take the mean of those that ended and are most like it: other trials of its
// strategy at its point, else its strategy with as many workers at other points, else any strategy
// with as many workers, else any. Thread-compatible.
class TimeLeft {
 public:
  explicit TimeLeft(const std::vector<SweepJob>& jobs);

  // Job number `index`, in the order of the plan, has taken so long.
  void Finished(size_t index, absl::Duration took);

  size_t finished() const { return finished_; }
  size_t total() const { return kinds_.size(); }
  // Of all jobs that have not ended, given that the one that runs now has run for `running`, which
  // counts up to what is expected of it. Nothing while no job has ended; zero at the end.
  absl::optional<absl::Duration> Left(absl::Duration running) const;

 private:
  struct Kind {
    std::string label;
    int workers = 0;
    int point = 0;
  };

  absl::Duration Expected(const Kind& kind) const;

  std::vector<Kind> kinds_;                           // one a job
  std::vector<absl::optional<absl::Duration>> took_;  // of each job; unset: has not ended
  size_t finished_ = 0;
};

// "[###-------] 9/27, 12:34 left"; without the time where it is not known.
std::string FormatSweepProgress(size_t finished, size_t total,
                                const absl::optional<absl::Duration>& left);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SWEEP_TIME_LEFT_H_
