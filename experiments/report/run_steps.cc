#include "experiments/report/run_steps.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "experiments/report/number_text.h"
#include "experiments/report/server_mode.h"

namespace ringside {
namespace {

std::string CheckEveryStep(const WorkerResult& worker, int64_t before, int64_t total_steps) {
  int64_t expected = before + 1;
  for (const StepRecord& record : worker.steps()) {
    if (record.step() != expected) {
      return absl::StrCat("worker ", worker.rank(), " has step ", record.step(), " where step ",
                          expected, " should be");
    }
    ++expected;
  }
  if (expected - 1 == total_steps) return "";
  return absl::StrCat("worker ", worker.rank(), " has ", expected - 1, " of ", total_steps,
                      " steps");
}

// `taken`: workers by step, which this adds to.
std::string CheckAscending(const WorkerResult& worker, int64_t total_steps,
                           std::vector<int>* taken) {
  int64_t before = 0;
  for (const StepRecord& record : worker.steps()) {
    if (record.step() <= before || record.step() > total_steps) {
      return absl::StrCat("worker ", worker.rank(), " has step ", record.step(), " after step ",
                          before, ", of ", total_steps);
    }
    before = record.step();
    ++(*taken)[static_cast<size_t>(before)];
  }
  return "";
}

}  // namespace

std::string CheckSteps(const RunResult& run) {
  const bool gaps = MaySkipSteps(run);
  std::vector<int> taken(static_cast<size_t>(run.total_steps()) + 1, 0);
  for (const WorkerResult& worker : run.worker_results()) {
    const std::string wrong =
        gaps ? CheckAscending(worker, run.total_steps(), &taken)
             : CheckEveryStep(worker, run.resumed_from_step(), run.total_steps());
    if (!wrong.empty()) return wrong;
  }
  if (!gaps) return "";
  const int needed = run.workers() - PolicyOf(run).backup_workers;
  for (int64_t step = 1; step <= run.total_steps(); ++step) {
    const int workers = taken[static_cast<size_t>(step)];
    if (workers < needed) {
      return absl::StrCat("step ", step, " was taken by ", Counted(workers, "worker"), ", not by ",
                          needed, " at least");
    }
  }
  return "";
}

}  // namespace ringside
