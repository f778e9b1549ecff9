#include "experiments/compare_command.h"

#include <stdio.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/config/job_flags.h"
#include "common/logging.h"
#include "common/status_macros.h"
#include "experiments/ceilings/ceiling_probe.h"
#include "experiments/comparison_plan.h"
#include "experiments/experiment_flags.h"
#include "experiments/job_runner.h"
#include "experiments/output_folder.h"
#include "experiments/progress_line.h"
#include "experiments/report/comparison.h"
#include "experiments/report_output.h"
#include "experiments/signal_wait.h"

namespace ringside {
namespace {

struct Plan {
  std::string out;
  std::vector<ComparisonStep> steps;
};

absl::StatusOr<Plan> ReadPlan(const CommandContext& context) {
  RINGSIDE_RETURN_IF_ERROR(RequireFlagsOf("compare", context.command_line));
  RINGSIDE_ASSIGN_OR_RETURN(const ExperimentConfig experiment, ExperimentConfigFromFlags());
  RINGSIDE_ASSIGN_OR_RETURN(const JobConfig base, JobConfigFromFlags(1));
  if (base.out.empty()) {
    return absl::InvalidArgumentError("--out= : must name the folder for the comparison's results");
  }
  RINGSIDE_ASSIGN_OR_RETURN(std::vector<ComparisonStep> steps, PlanComparison(experiment, base));
  return Plan{base.out, std::move(steps)};
}

std::string DescribeRun(const RunResult& run) {
  std::string line =
      absl::StrCat(run.total_steps(), " steps, parameters ", run.parameters_sha256().substr(0, 12));
  if (run.evaluation().samples() > 0) {
    absl::StrAppendFormat(&line, ", accuracy %.2f %%", run.evaluation().accuracy() * 100);
  }
  return line;
}

// Empty where a job failed; the status then says how to exit.
std::vector<RunResult> RunAll(const CommandContext& context, const Plan& plan,
                              const OutputFolder& folder, int* status) {
  const NetworkOptions network =
      ProcessConfigFromFlags(context.command_line, context.environment).network;
  CeilingProbe ceilings;
  std::vector<RunResult> runs;
  for (const ComparisonStep& step : plan.steps) {
    std::error_code error;
    std::filesystem::create_directories(step.job.out, error);
    if (error) {
      *status = ExitStatus(
          absl::PermissionDeniedError(absl::StrCat(step.job.out, ": ", error.message())));
      return {};
    }
    const FinishedJob finished = RunJob(context, network, step.job, &ceilings, step.title);
    if (!finished.outcome.ok()) {
      JobOutcome outcome = finished.outcome;
      outcome.error = absl::StrCat(step.title, ": ", outcome.error);
      PrintFailure(outcome, step.job.out);
      *status = outcome.launcher_status;
      if (*status == 2 && runs.empty()) folder.Discard();
      return {};
    }
    fprintf(stderr, "%s: %s\n", step.title.c_str(), DescribeRun(*finished.result).c_str());
    runs.push_back(*finished.result);
  }
  return runs;
}

}  // namespace

int CompareCommand(const CommandContext& context) {
  const absl::StatusOr<Plan> plan = ReadPlan(context);
  if (!plan.ok()) return ExitStatus(plan.status());
  const absl::StatusOr<OutputFolder> folder =
      OutputFolder::Prepare(plan->out, OverwriteFromFlags());
  if (!folder.ok()) return ExitStatus(folder.status());
  int status = 0;
  const std::vector<RunResult> runs = RunAll(context, *plan, *folder, &status);
  UnblockJobSignals();
  if (status != 0) return status;
  const ComparisonResult comparison =
      BuildComparison(runs, context.argv, runs.front().provenance(), {}, InequalityFromFlags());
  PrintVerdict(comparison);
  const absl::Status written = WriteReportAndSayWhere(comparison, plan->out);
  if (!written.ok()) return ExitStatus(written);
  return AllGatesPassed(comparison) ? 0 : 1;
}

}  // namespace ringside
