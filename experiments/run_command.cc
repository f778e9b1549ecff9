#include "experiments/run_command.h"

#include <stdio.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/config/job_flags.h"
#include "common/logging.h"
#include "common/status_macros.h"
#include "experiments/ceilings/ceiling_probe.h"
#include "experiments/experiment_flags.h"
#include "experiments/job_runner.h"
#include "experiments/launch_limit.h"
#include "experiments/output_folder.h"
#include "experiments/progress_line.h"
#include "experiments/report/arrivals.h"
#include "experiments/report/comparison.h"
#include "experiments/report_output.h"
#include "experiments/signal_wait.h"

namespace ringside {
namespace {

absl::StatusOr<JobConfig> ReadJob(const CommandContext& context) {
  RINGSIDE_RETURN_IF_ERROR(RequireFlagsOf("run", context.command_line));
  RINGSIDE_ASSIGN_OR_RETURN(JobConfig job, JobConfigFromFlags());
  RINGSIDE_RETURN_IF_ERROR(job.Validate());
  RINGSIDE_RETURN_IF_ERROR(RequireLaunchable(job));
  if (job.checkpoint_steps > 0 && job.checkpoint_folder().empty()) {
    return absl::InvalidArgumentError(absl::StrCat("--checkpoint_steps=", job.checkpoint_steps,
                                                   ": needs a folder, --checkpoint_dir or --out"));
  }
  if (!job.trace_steps.empty() && job.out.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("--trace_steps=", job.trace_steps,
                                                   ": needs --out=DIR, where trace.json is to be"));
  }
  if (!job.network.empty() && job.network_hosts() == 0) {
    return absl::InvalidArgumentError(absl::StrCat("--network=", job.network,
                                                   ": must be empty with --strategy=", job.strategy,
                                                   ", where one process plays all ranks"));
  }
  if (job.restart_shards > 0 && !job.uses_servers()) {
    return absl::InvalidArgumentError(absl::StrCat("--restart_shards=", job.restart_shards,
                                                   ": must be 0 with --strategy=", job.strategy,
                                                   ", which has no shards"));
  }
  return job;
}

absl::StatusOr<OutputFolder> MakeFolder(const JobConfig& job) {
  return job.out.empty()
             ? OutputFolder::Temporary()
             : OutputFolder::Prepare(job.out, OverwriteFromFlags(), !job.resume.empty());
}

void PrintSummary(const RunResult& run, const ComparisonResult& comparison) {
  std::string line = absl::StrCat(run.strategy(), ", ", run.workers(),
                                  run.workers() == 1 ? " worker" : " workers");
  if (run.shards() > 0)
    absl::StrAppend(&line, ", ", run.shards(), run.shards() == 1 ? " shard" : " shards");
  absl::StrAppend(&line, ": ", run.total_steps(), " steps");
  if (comparison.cells_size() == 1) {
    absl::StrAppend(&line, ", ", FormatRate(comparison.cells(0).samples_per_s().median()),
                    " samples/s");
  }
  if (run.evaluation().samples() > 0) {
    absl::StrAppendFormat(&line, ", test accuracy %.2f %% (%d of %d)",
                          run.evaluation().accuracy() * 100, run.evaluation().correct(),
                          run.evaluation().samples());
  }
  const Arrivals arrivals = ArrivalsOf(run);
  if (arrivals.chronic()) absl::StrAppend(&line, "\n", DescribeArrivals(arrivals));
  printf(
      "%s\nparameters sha256 %s\n", line.c_str(),
      run.parameters_sha256().empty() ? "differ between ranks" : run.parameters_sha256().c_str());
}

}  // namespace

int RunCommand(const CommandContext& context) {
  absl::StatusOr<JobConfig> job = ReadJob(context);
  if (!job.ok()) return ExitStatus(job.status());
  const absl::StatusOr<OutputFolder> folder = MakeFolder(*job);
  if (!folder.ok()) return ExitStatus(folder.status());
  job->out = folder->path();

  const NetworkOptions network =
      ProcessConfigFromFlags(context.command_line, context.environment).network;
  CeilingProbe ceilings;
  const FinishedJob finished = RunJob(context, network, *job, &ceilings, "");
  UnblockJobSignals();
  if (!finished.outcome.ok()) {
    const int status = finished.outcome.launcher_status;
    PrintFailure(finished.outcome, folder->path());
    // Bad input leaves nothing half-written behind; of anything else the logs are worth having.
    if (status == 2 || (status > 2 && folder->temporary())) folder->Discard();
    return status;
  }
  const ComparisonResult comparison =
      BuildComparison({*finished.result}, context.argv, finished.result->provenance());
  PrintSummary(*finished.result, comparison);
  if (folder->temporary()) {
    folder->Discard();
  } else {
    if (!job->trace_steps.empty()) {
      printf("trace: %s/trace.json, for https://ui.perfetto.dev\n", folder->path().c_str());
    }
    const absl::Status written = WriteReportAndSayWhere(comparison, folder->path());
    if (!written.ok()) return ExitStatus(written);
  }
  for (const Gate& gate : comparison.gates()) {
    if (!gate.passed()) LogError(absl::StrCat(gate.name(), ": ", gate.detail()));
  }
  return AllGatesPassed(comparison) ? 0 : 1;
}

}  // namespace ringside
