#include "experiments/sweep/sweep_command.h"

#include <stdio.h>

#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "common/config/job_flags.h"
#include "common/logging.h"
#include "common/status_macros.h"
#include "experiments/experiment_flags.h"
#include "experiments/model/forecast.h"
#include "experiments/output_folder.h"
#include "experiments/progress_line.h"
#include "experiments/report/comparison.h"
#include "experiments/report/text_file.h"
#include "experiments/report_output.h"
#include "experiments/signal_wait.h"
#include "experiments/sweep/folder_lock.h"
#include "experiments/sweep/runnable_here.h"
#include "experiments/sweep/sweep_runner.h"
#include "experiments/sweep/time_left.h"

namespace ringside {
namespace {

// All that is known before the first job starts.
struct Sweep {
  std::string out;
  SweepPlan plan;
  SweepManifest manifest;
  KeptRuns kept;
  absl::optional<OutputFolder> fresh;  // set where nothing of this sweep was there
  absl::optional<FolderLock> lock;
};

// The command line of a sweep says where things lie; what runs is in the spec, which the results
// keep.
absl::Status RequireFlagsOfSweep(const CommandLine& line) {
  static const auto* allowed = new std::set<std::string>{
      "out",          "overwrite", "dry_run",   "allow_unequal", "data_dir",
      "metrics_port", "listen",    "interface", "advertise",     "port_range"};
  for (const std::string& flag : line.given) {
    if (allowed->count(flag) > 0) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "--", flag, " has no meaning for `ringside sweep`; what its jobs are told is in the spec"));
  }
  if (line.positional.size() == 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "`ringside sweep` needs one spec, e.g. `ringside sweep experiments/specs/bandwidth.textproto "
      "--out=results/bandwidth`");
}

std::vector<JobSetting> Overrides(const CommandLine& line, const JobConfig& flags) {
  std::vector<JobSetting> overrides;
  if (line.Has("data_dir")) overrides.emplace_back("data_dir", flags.data_dir);
  return overrides;
}

// What the command line says that could change results.
void AddOptions(const CommandContext& context, const std::vector<JobSetting>& overrides,
                SweepIdentity* identity) {
  for (const auto& [name, value] : overrides) (*identity)[absl::StrCat("--", name)] = value;
  const NetworkOptions network =
      ProcessConfigFromFlags(context.command_line, context.environment).network;
  const std::vector<JobSetting> options = {{"interface", network.interface},
                                           {"listen", network.listen},
                                           {"advertise", network.advertise}};
  for (const auto& [name, value] : options) {
    if (!value.empty()) (*identity)[absl::StrCat("--", name)] = value;
  }
}

// Takes over what the folder holds of this very sweep, if anything.
absl::Status ReadFolder(bool overwrite, Sweep* sweep) {
  std::error_code error;
  if (overwrite || !std::filesystem::is_directory(sweep->out, error)) return absl::OkStatus();
  absl::StatusOr<SweepManifest> before = LoadManifest(sweep->out);
  if (absl::IsNotFound(before.status())) return absl::OkStatus();
  RINGSIDE_RETURN_IF_ERROR(before.status());
  RINGSIDE_RETURN_IF_ERROR(RequireSame(*before, sweep->manifest, sweep->out));
  sweep->manifest = *std::move(before);
  sweep->kept = ReadKeptRuns(sweep->plan, sweep->manifest, sweep->out);
  return absl::OkStatus();
}

absl::Status PrepareFolder(bool overwrite, Sweep* sweep) {
  if (!LoadManifest(sweep->out).ok() || overwrite) {
    RINGSIDE_ASSIGN_OR_RETURN(sweep->fresh, OutputFolder::Prepare(sweep->out, overwrite));
  }
  if (!sweep->lock.has_value()) {
    RINGSIDE_ASSIGN_OR_RETURN(sweep->lock, FolderLock::Acquire(sweep->out));
  }
  return sweep->fresh.has_value() ? SaveManifest(sweep->manifest, sweep->out) : absl::OkStatus();
}

absl::StatusOr<Sweep> ReadSweep(const CommandContext& context, bool dry_run) {
  RINGSIDE_RETURN_IF_ERROR(RequireFlagsOfSweep(context.command_line));
  RINGSIDE_ASSIGN_OR_RETURN(const JobConfig flags, JobConfigFromFlags(1));
  Sweep sweep;
  sweep.out = flags.out;
  if (sweep.out.empty() && !dry_run) {
    return absl::InvalidArgumentError("--out= : must name the folder for the sweep's results");
  }
  const std::string& path = context.command_line.positional.front();
  RINGSIDE_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path));
  RINGSIDE_ASSIGN_OR_RETURN(const SpecSource source, ParseSpec(path, text));
  const std::vector<JobSetting> overrides = Overrides(context.command_line, flags);
  RINGSIDE_ASSIGN_OR_RETURN(sweep.plan, PlanSweep(source, sweep.out, overrides));
  SweepIdentity identity = BuildAndMachine(context.binary_dir);
  AddOptions(context, overrides, &identity);
  sweep.manifest = MakeManifest(source, identity);

  std::error_code error;
  if (!dry_run && std::filesystem::is_directory(sweep.out, error)) {
    RINGSIDE_ASSIGN_OR_RETURN(sweep.lock, FolderLock::Acquire(sweep.out));
  }
  const bool overwrite = OverwriteFromFlags();
  RINGSIDE_RETURN_IF_ERROR(ReadFolder(overwrite, &sweep));
  RINGSIDE_RETURN_IF_ERROR(LeaveOutWhatCannotRun(
      CanRunHere, [&sweep](const SweepJob& job) { return sweep.kept.count(job.folder) > 0; },
      &sweep.plan));
  if (!dry_run) RINGSIDE_RETURN_IF_ERROR(PrepareFolder(overwrite, &sweep));
  return sweep;
}

void PrintPlan(const Sweep& sweep) {
  printf("%s\n", sweep.plan.question.c_str());
  TimeLeft time_left(sweep.plan.jobs);
  for (size_t i = 0; i < sweep.plan.jobs.size(); ++i) {
    const SweepJob& job = sweep.plan.jobs[i];
    const auto kept = sweep.kept.find(job.folder);
    if (kept != sweep.kept.end()) time_left.Finished(i, kept->second.took);
    printf("%4zu  %s  (%s)%s\n", i + 1, job.title.c_str(), job.folder.c_str(),
           kept == sweep.kept.end() ? "" : "  has run");
  }
  for (const std::string& line : sweep.plan.warnings) printf("warning: %s\n", line.c_str());
  printf("%zu jobs, of which %zu have run", time_left.total(), time_left.finished());
  const absl::optional<absl::Duration> left = time_left.Left(absl::ZeroDuration());
  if (left.has_value()) printf("; %s left", FormatClock(*left).c_str());
  printf("\n");
}

// Adds the forecast that the spec asks for. That it cannot be made is a warning: what was measured
// stands.
void AddForecast(const SweepPlan& plan, ComparisonResult* comparison) {
  if (!plan.has_forecast) return;
  std::vector<HoldOut> hold_outs;
  for (const ForecastSpec::HoldOut& held : plan.forecast.hold_out()) {
    hold_outs.push_back({held.setting(), held.value(), held.workers()});
  }
  absl::StatusOr<Forecast> forecast = ForecastSweep(*comparison, hold_outs);
  if (forecast.ok()) {
    *comparison->mutable_forecast() = *std::move(forecast);
    return;
  }
  const std::string line = absl::StrCat("No forecast: ", forecast.status().message());
  LogWarning(line);
  comparison->add_warnings(line);
}

}  // namespace

int SweepCommand(const CommandContext& context) {
  const bool dry_run = DryRunFromFlags();
  absl::StatusOr<Sweep> sweep = ReadSweep(context, dry_run);
  if (!sweep.ok()) return ExitStatus(sweep.status());
  if (dry_run) {
    PrintPlan(*sweep);
    return 0;
  }
  for (const std::string& line : sweep->plan.warnings) LogWarning(line);
  const SweepOutcome outcome = RunSweep(context, sweep->plan, std::move(sweep->kept), sweep->out,
                                        std::move(sweep->manifest));
  UnblockJobSignals();
  if (outcome.status != 0) {
    if (outcome.was_refused && sweep->fresh.has_value()) sweep->fresh->Discard();
    return outcome.status;
  }
  ComparisonResult comparison = BuildComparison(
      outcome.runs, context.argv, outcome.runs.front().provenance(),
      {sweep->plan.question, sweep->plan.varied, sweep->plan.warnings}, InequalityFromFlags());
  AddForecast(sweep->plan, &comparison);
  PrintVerdict(comparison);
  const absl::Status written = WriteReportAndSayWhere(comparison, sweep->out);
  if (!written.ok()) return ExitStatus(written);
  return AllGatesPassed(comparison) ? 0 : 1;
}

}  // namespace ringside
