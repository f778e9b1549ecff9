// The one live line of a running job: what it says (pure) and how it is shown.
#ifndef RINGSIDE_EXPERIMENTS_PROGRESS_LINE_H_
#define RINGSIDE_EXPERIMENTS_PROGRESS_LINE_H_

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "coordinator.pb.h"

namespace ringside {

struct WorkerProgress {
  int rank = 0;
  Progress progress;
};

struct ProgressView {
  std::string phase;
  int64_t step = 0;  // that every worker has finished
  int64_t total_steps = 0;
  absl::optional<double> samples_per_s;  // of all workers together, over the last seconds
  double loss = 0;                       // sum over ranks: the mean over the global batch
  int workers = 0;
  int slowest_rank = 0;
  double slowest_work_s = 0;  // own work of its last step, waits for others excluded
  absl::optional<absl::Duration> left;
};

// Turns what workers report into a view; keeps a few seconds of history for the rates.
// Thread-compatible.
class ProgressMeter {
 public:
  ProgressView Update(const std::vector<WorkerProgress>& workers, absl::Time now);

 private:
  struct Sample {
    absl::Time time;
    int64_t step = 0;
    int64_t samples = 0;
  };
  std::deque<Sample> history_;  // ascending in time, only where steps moved
};

// "step 120/600 · 12,345 samples/s · loss 0.2345 · slowest: worker 2, 12.3 ms · 0:42 left"
std::string FormatProgress(const ProgressView& view);
// "12,345", "9.87": at least three digits.
std::string FormatRate(double rate);
// "0:42", "1:02:03"; rounded to seconds.
std::string FormatClock(absl::Duration duration);

// Shows lines on standard error: on a terminal it rewrites one line, elsewhere it prints one now
// and then.
class ProgressPrinter {
 public:
  // `prefix` is put before each line, e.g. "[3/27] ring, 2 workers, trial 1". With `terminal`
  // false, a line every 10 s.
  ProgressPrinter(std::string prefix, bool terminal);
  // Ends the live line, so that what follows starts on a line of its own.
  ~ProgressPrinter();
  ProgressPrinter(const ProgressPrinter&) = delete;
  ProgressPrinter& operator=(const ProgressPrinter&) = delete;

  void Show(absl::string_view line, absl::Time now);
  // Removes the live line from a terminal.
  void Clear();

 private:
  const std::string prefix_;
  const bool terminal_;
  bool on_line_ = false;
  absl::Time next_print_ = absl::InfinitePast();
};

bool StandardErrorIsTerminal();

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_PROGRESS_LINE_H_
