// The jobs of a sweep with all their settings, in the order in which they run. Pure.
#ifndef RINGSIDE_EXPERIMENTS_SWEEP_SWEEP_PLAN_H_
#define RINGSIDE_EXPERIMENTS_SWEEP_SWEEP_PLAN_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/config/job_config.h"
#include "common/config/job_settings.h"
#include "experiments/sweep/spec_source.h"
#include "sweep.pb.h"

namespace ringside {

struct SweepJob {
  JobConfig job;       // its `out` is <out>/runs/<folder>
  std::string folder;  // "ring-w4-p03-t1"
  std::string title;   // "ring, 4 workers, network=200mbit,100us, trial 1"
  std::string label;   // of the contender
  // Varied settings that the strategy takes notice of, with their values as the results of the job
  // will have them.
  std::map<std::string, std::string> point;
  // Points, as indices into SweepPlan::points, at which it stands beside the others: its own comes
  // first, those that differ in settings it takes no notice of follow.
  std::vector<int> points;
};

struct SweepPlan {
  std::string question;
  std::vector<std::string> varied;  // settings with more than one value
  // Every combination of the values of the settings that vary, the last of them fastest.
  std::vector<std::map<std::string, std::string>> points;
  // For each point and number of workers all trials, in the order of MakeTrialOrder. Not empty.
  std::vector<SweepJob> jobs;
  bool has_forecast = false;
  ForecastSpec forecast;  // values are those of SweepJob::point
  absl::Duration job_time_limit = absl::InfiniteDuration();
  std::vector<std::string> warnings;  // what was left out, and why
};

// `overrides` go before what the spec says, for all jobs. INVALID_ARGUMENT, with the place in the
// spec: as ReadSpecSettings; a job is not valid or too large for one machine; the global batch does
// not divide; two values are the same setting; no strategy takes notice of a setting that varies;
// two strategies that a report could not tell apart; a held-out point that there is not.
absl::StatusOr<SweepPlan> PlanSweep(const SpecSource& source, const std::string& out,
                                    const std::vector<JobSetting>& overrides);

// OK: the job can run on this machine. Otherwise the message is the reason.
using JobCheck = std::function<absl::Status(const JobConfig&)>;

// Leaves out points, at a number of workers, where a job stands that can neither run here nor has
// run, and says so in `warnings`: what is left still has all strategies. FAILED_PRECONDITION: that
// would be all of them.
absl::Status LeaveOutWhatCannotRun(const JobCheck& can_run,
                                   const std::function<bool(const SweepJob&)>& has_run,
                                   SweepPlan* plan);

// "network=200mbit,100us, placement=colocated"; empty without varied settings.
std::string SweepPointText(const std::map<std::string, std::string>& point);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SWEEP_SWEEP_PLAN_H_
