#include "experiments/sweep/sweep_runner.h"

#include <signal.h>
#include <stdio.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/config/job_flags.h"
#include "common/coordinator/monotonic_clock.h"
#include "common/logging.h"
#include "common/status_macros.h"
#include "experiments/ceilings/ceiling_probe.h"
#include "experiments/job_runner.h"
#include "experiments/output_folder.h"
#include "experiments/sweep/job_timer.h"
#include "experiments/sweep/time_left.h"

namespace ringside {
namespace {

class Runner {
 public:
  Runner(const CommandContext& context, const SweepPlan& plan, const std::string& folder,
         SweepManifest manifest)
      : context_(context),
        plan_(plan),
        folder_(folder),
        network_(ProcessConfigFromFlags(context.command_line, context.environment).network),
        manifest_(std::move(manifest)),
        time_left_(plan.jobs),
        results_(plan.jobs.size()) {}

  SweepOutcome Run(KeptRuns kept) {
    for (size_t i = 0; i < plan_.jobs.size(); ++i) {
      const auto found = kept.find(plan_.jobs[i].folder);
      if (found == kept.end()) continue;
      time_left_.Finished(i, found->second.took);
      results_[i] = std::move(found->second.result);
    }
    SweepOutcome outcome;
    const bool goes_on = time_left_.finished() > 0;
    if (goes_on) {
      fprintf(stderr, "going on: %s\n", Overview(absl::ZeroDuration()).c_str());
    }
    for (size_t i = 0; i < plan_.jobs.size(); ++i) {
      if (results_[i].has_value()) continue;
      outcome.status = RunOne(i);
      if (outcome.status == 0) continue;
      outcome.was_refused = outcome.status == 2 && time_left_.finished() == 0;
      if (!outcome.was_refused) {
        fprintf(stderr, "%d of %d jobs have run; the same command goes on from there\n",
                static_cast<int>(time_left_.finished()), static_cast<int>(time_left_.total()));
      }
      return outcome;
    }
    for (absl::optional<RunResult>& result : results_) {
      result->mutable_command()->Assign(context_.argv.begin(), context_.argv.end());
      outcome.runs.push_back(*std::move(result));
    }
    return outcome;
  }

 private:
  std::string Overview(absl::Duration running) const {
    return FormatSweepProgress(time_left_.finished(), time_left_.total(), time_left_.Left(running));
  }

  // Returns what to exit with; 0: go on.
  int RunOne(size_t index) {
    const SweepJob& job = plan_.jobs[index];
    RemoveResults(job.job.out);  // of a run that was cut short
    std::error_code error;
    std::filesystem::create_directories(job.job.out, error);
    if (error) {
      return ExitStatus(
          absl::PermissionDeniedError(absl::StrCat(job.job.out, ": ", error.message())));
    }
    const absl::Time start = MonotonicNow();
    absl::StatusOr<FinishedJob> finished = RunWithinLimit(job, start);
    if (!finished.ok()) return ExitStatus(finished.status());
    JobOutcome& outcome = finished->outcome;
    if (!outcome.ok()) {
      outcome.error = absl::StrCat(job.title, ": ", outcome.error);
      PrintFailure(outcome, job.job.out);
      return outcome.launcher_status;
    }
    const absl::Duration took = MonotonicNow() - start;
    const absl::Status remembered = Remember(index, took);
    if (!remembered.ok()) return ExitStatus(remembered);
    results_[index] = *std::move(finished->result);
    fprintf(stderr, "%s: %s: %s\n", Overview(absl::ZeroDuration()).c_str(), job.title.c_str(),
            Describe(*results_[index], took).c_str());
    return 0;
  }

  absl::StatusOr<FinishedJob> RunWithinLimit(const SweepJob& job, absl::Time start) {
    JobTimer timer;
    RINGSIDE_RETURN_IF_ERROR(timer.Start(plan_.job_time_limit));
    const auto live_title = [&](absl::Time now) {
      return absl::StrCat(Overview(now - start), ": ", job.title);
    };
    FinishedJob finished = RunJob(context_, network_, job.job, &ceilings_, job.title, live_title);
    if (finished.outcome.launcher_status == 128 + SIGTERM && timer.Expired()) {
      finished.outcome.launcher_status = 1;
      finished.outcome.error = absl::StrCat("took longer than job_time_limit_s, ",
                                            absl::FormatDuration(plan_.job_time_limit));
    }
    return finished;
  }

  absl::Status Remember(size_t index, absl::Duration took) {
    RINGSIDE_RETURN_IF_ERROR(AddFinished(folder_, plan_.jobs[index].folder, took, &manifest_));
    time_left_.Finished(index, took);
    return SaveManifest(manifest_, folder_);
  }

  static std::string Describe(const RunResult& run, absl::Duration took) {
    return absl::StrFormat("%d steps in %.1f s, parameters %s", run.total_steps(),
                           absl::ToDoubleSeconds(took),
                           run.parameters_sha256().empty() ? "differ between ranks"
                                                           : run.parameters_sha256().substr(0, 12));
  }

  const CommandContext& context_;
  const SweepPlan& plan_;
  const std::string& folder_;
  const NetworkOptions network_;
  CeilingProbe ceilings_;
  SweepManifest manifest_;
  TimeLeft time_left_;
  std::vector<absl::optional<RunResult>> results_;  // of each job of the plan
};

}  // namespace

KeptRuns ReadKeptRuns(const SweepPlan& plan, const SweepManifest& manifest,
                      const std::string& folder) {
  KeptRuns kept;
  for (const SweepJob& job : plan.jobs) {
    absl::StatusOr<KeptRun> run = ReadFinished(manifest, folder, job.folder);
    if (run.ok()) {
      kept[job.folder] = *std::move(run);
    } else if (!absl::IsNotFound(run.status())) {
      LogWarning(absl::StrCat(run.status().message(), "; it runs again"));
    }
  }
  return kept;
}

SweepOutcome RunSweep(const CommandContext& context, const SweepPlan& plan, KeptRuns kept,
                      const std::string& folder, SweepManifest manifest) {
  return Runner(context, plan, folder, std::move(manifest)).Run(std::move(kept));
}

}  // namespace ringside
