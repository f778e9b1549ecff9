#include "experiments/predict_command.h"

#include <stdio.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/config/job_flags.h"
#include "common/config/network_spec.h"
#include "common/logging.h"
#include "common/status_macros.h"
#include "experiments/experiment_flags.h"
#include "experiments/model/parameter_count.h"
#include "experiments/model/prediction.h"
#include "experiments/model/prediction_figures.h"
#include "experiments/model/prediction_text.h"
#include "experiments/report/gnuplot.h"
#include "experiments/report/report_writer.h"
#include "experiments/report/svg_theme.h"
#include "experiments/report/text_file.h"

namespace ringside {
namespace {

// Finite, and at least 0.
absl::StatusOr<double> ParseSeconds(absl::string_view flag, const std::string& text,
                                    absl::string_view example) {
  absl::Duration duration;
  if (!absl::ParseDuration(text, &duration) || duration < absl::ZeroDuration() ||
      duration == absl::InfiniteDuration()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--", flag, "=", text, ": must be a duration, such as ", example));
  }
  return absl::ToDoubleSeconds(duration);
}

absl::Status ReadNumbers(PredictionRequest* request) {
  const PredictionFlags flags = PredictionFromFlags();
  if (!flags.bandwidth.empty()) {
    RINGSIDE_ASSIGN_OR_RETURN(request->bandwidth_mbit,
                              ParseBandwidthMbit("bandwidth", flags.bandwidth));
  }
  if (!flags.latency.empty()) {
    RINGSIDE_ASSIGN_OR_RETURN(request->latency_us, ParseLatencyUs("latency", flags.latency));
  }
  if (!flags.parameters.empty()) {
    RINGSIDE_ASSIGN_OR_RETURN(request->parameters, ParseParameterCount(flags.parameters));
  }
  if (!flags.compute.empty()) {
    RINGSIDE_ASSIGN_OR_RETURN(request->compute_s, ParseSeconds("compute", flags.compute, "120ms"));
  }
  return absl::OkStatus();
}

absl::Status ReadFailures(const CommandLine& command_line, const JobConfig& job,
                          PredictionRequest* request) {
  const PredictionFlags flags = PredictionFromFlags();
  if (flags.mtbf.empty()) {
    for (const char* flag : {"restart_cost", "checkpoint_cost", "checkpoint_steps"}) {
      if (!command_line.Has(flag)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("--", flag,
                       ": `ringside predict` needs --mtbf with it, such as --mtbf=5000h; without, "
                       "nothing fails"));
    }
    return absl::OkStatus();
  }
  FailureRequest failures;
  RINGSIDE_ASSIGN_OR_RETURN(failures.mtbf_s, ParseSeconds("mtbf", flags.mtbf, "5000h"));
  if (failures.mtbf_s == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--mtbf=", flags.mtbf, ": must be positive, such as 5000h"));
  }
  RINGSIDE_ASSIGN_OR_RETURN(failures.restart_s,
                            ParseSeconds("restart_cost", flags.restart_cost, "1m"));
  if (!flags.checkpoint_cost.empty()) {
    RINGSIDE_ASSIGN_OR_RETURN(failures.checkpoint_s,
                              ParseSeconds("checkpoint_cost", flags.checkpoint_cost, "2s"));
  }
  failures.checkpoint_steps = job.checkpoint_steps;
  request->failures = failures;
  return absl::OkStatus();
}

absl::StatusOr<PredictionRequest> RequestFrom(const CommandLine& command_line,
                                              const JobConfig& job) {
  PredictionRequest request;
  RINGSIDE_ASSIGN_OR_RETURN(request.workers, WorkerCountsFromFlags());
  if (!command_line.Has("workers")) {
    return absl::InvalidArgumentError(
        "`ringside predict` needs the numbers of workers, e.g. --workers=8,64,1024");
  }
  request.shards = job.ps_shards;
  if (command_line.Has("bucket_bytes")) request.bucket_bytes = job.bucket_bytes;
  if (command_line.Has("model")) request.model = job.model;
  RINGSIDE_RETURN_IF_ERROR(ReadNumbers(&request));
  RINGSIDE_RETURN_IF_ERROR(ReadFailures(command_line, job, &request));
  return request;
}

absl::Status WriteFigures(const Prediction& prediction, const std::string& out) {
  const std::string folder = absl::StrCat(out, "/figures");
  const std::string work = absl::StrCat(folder, "/.drawing");
  std::error_code error;
  std::filesystem::create_directories(work, error);
  if (error) return absl::ErrnoToStatus(error.value(), absl::StrCat("making the folder ", work));
  absl::Status status;
  for (const Figure& figure : PredictionFigures(prediction)) {
    const std::string path = absl::StrCat(folder, "/", figure.name);
    RINGSIDE_RETURN_IF_ERROR(WriteTextFile(absl::StrCat(path, ".csv"), figure.csv));
    const auto drawn = DrawSvg(figure, work);
    if (!drawn.ok()) {
      status = drawn.status();  // the numbers of the others are of use without drawings
      continue;
    }
    RINGSIDE_ASSIGN_OR_RETURN(const std::string svg, InlineSvg(figure, *drawn));
    RINGSIDE_RETURN_IF_ERROR(WriteTextFile(absl::StrCat(path, ".svg"), StandaloneSvg(svg)));
  }
  std::filesystem::remove_all(work, error);
  return status;
}

absl::Status Run(const CommandContext& context) {
  RINGSIDE_RETURN_IF_ERROR(RequireFlagsOf("predict", context.command_line));
  const auto& folders = context.command_line.positional;
  if (folders.size() != 1) {
    return absl::InvalidArgumentError(
        "`ringside predict` needs one folder that holds results of a comparison or a sweep, e.g. "
        "`ringside predict out --workers=8,64`");
  }
  RINGSIDE_ASSIGN_OR_RETURN(const JobConfig job, JobConfigFromFlags(1));
  RINGSIDE_ASSIGN_OR_RETURN(const PredictionRequest request,
                            RequestFrom(context.command_line, job));
  RINGSIDE_ASSIGN_OR_RETURN(const ComparisonResult comparison,
                            ReadComparison(absl::StrCat(folders.front(), "/results.json")));
  RINGSIDE_ASSIGN_OR_RETURN(const Prediction prediction, Predict(comparison, request));
  fputs(PredictionText(prediction).c_str(), stdout);
  if (job.out.empty()) return absl::OkStatus();
  RINGSIDE_RETURN_IF_ERROR(WriteFigures(prediction, job.out));
  printf("\nfigures and their numbers: %s/figures/predicted_*\n", job.out.c_str());
  return absl::OkStatus();
}

}  // namespace

int PredictCommand(const CommandContext& context) { return ExitStatus(Run(context)); }

}  // namespace ringside
