#include "experiments/report_command.h"

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/config/job_flags.h"
#include "common/logging.h"
#include "common/status_macros.h"
#include "experiments/experiment_flags.h"
#include "experiments/output_folder.h"
#include "experiments/read_results.h"
#include "experiments/report/comparison.h"
#include "experiments/report/merge_results.h"
#include "experiments/report_output.h"

namespace ringside {
namespace {

// Whatever is overwritten in `out` must not be what is to be read.
absl::Status RequireOutside(const std::string& out, const std::vector<std::string>& folders) {
  if (out.empty()) return absl::OkStatus();
  std::error_code error;
  const auto target = std::filesystem::weakly_canonical(out, error);
  for (const std::string& folder : folders) {
    const auto source = std::filesystem::weakly_canonical(folder, error);
    const auto relative = source.lexically_relative(target);
    if (relative.empty() || *relative.begin() == "..") continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "--out=", out, ": holds ", folder, ", which is to be read; must be another folder"));
  }
  return absl::OkStatus();
}

// One result is made again from its own runs, several are merged.
absl::StatusOr<ComparisonResult> ReadAll(const CommandContext& context) {
  std::vector<NamedResult> parts;
  for (const std::string& folder : context.command_line.positional) {
    RINGSIDE_ASSIGN_OR_RETURN(ComparisonResult part, ReadResults(folder));
    parts.push_back({folder, std::move(part)});
  }
  if (parts.size() == 1) return RebuildComparison(parts.front().result, InequalityFromFlags());
  return MergeResults(parts, context.argv, InequalityFromFlags());
}

absl::Status WriteMerged(const CommandContext& context) {
  RINGSIDE_RETURN_IF_ERROR(RequireFlagsOf("report", context.command_line));
  const std::vector<std::string>& folders = context.command_line.positional;
  if (folders.empty()) {
    return absl::InvalidArgumentError(
        "`ringside report` needs a folder that holds results, e.g. `ringside report out`");
  }
  RINGSIDE_ASSIGN_OR_RETURN(const JobConfig flags, JobConfigFromFlags(1));
  if (flags.out.empty() && folders.size() > 1) {
    return absl::InvalidArgumentError(absl::StrCat("ringside report ", absl::StrJoin(folders, " "),
                                                   ": needs --out=DIR for the merged report"));
  }
  RINGSIDE_RETURN_IF_ERROR(RequireOutside(flags.out, folders));
  RINGSIDE_ASSIGN_OR_RETURN(const ComparisonResult comparison, ReadAll(context));
  std::string out = ResultsFolder(folders.front());
  if (!flags.out.empty()) {
    RINGSIDE_ASSIGN_OR_RETURN(const OutputFolder folder,
                              OutputFolder::Prepare(flags.out, OverwriteFromFlags()));
    out = folder.path();
  }
  PrintVerdict(comparison);
  RINGSIDE_RETURN_IF_ERROR(WriteReportAndSayWhere(comparison, out));
  return AllGatesPassed(comparison)
             ? absl::OkStatus()
             : absl::AbortedError("a gate failed: these runs must not be compared");
}

}  // namespace

int ReportCommand(const CommandContext& context) { return ExitStatus(WriteMerged(context)); }

}  // namespace ringside
