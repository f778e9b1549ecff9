#include "experiments/diff_command.h"

#include <stdio.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/logging.h"
#include "common/status_macros.h"
#include "experiments/experiment_flags.h"
#include "experiments/read_results.h"
#include "experiments/report/result_diff.h"

namespace ringside {
namespace {

// Whether B has regressed.
absl::StatusOr<bool> PrintDiff(const CommandContext& context) {
  RINGSIDE_RETURN_IF_ERROR(RequireFlagsOf("diff", context.command_line));
  const std::vector<std::string>& paths = context.command_line.positional;
  if (paths.size() != 2) {
    return absl::InvalidArgumentError(absl::StrCat("`ringside diff` compares two results, not ",
                                                   paths.size(),
                                                   ": e.g. `ringside diff before after`"));
  }
  RINGSIDE_ASSIGN_OR_RETURN(const double tolerance, ToleranceFromFlags());
  RINGSIDE_ASSIGN_OR_RETURN(const ComparisonResult a, ReadResults(paths[0]));
  RINGSIDE_ASSIGN_OR_RETURN(const ComparisonResult b, ReadResults(paths[1]));
  const ResultDiff diff = DiffResults(a, b, tolerance);
  printf("A: %s\nB: %s\n%s", paths[0].c_str(), paths[1].c_str(), DiffText(diff, tolerance).c_str());
  if (!diff.comparable) {
    return absl::InvalidArgumentError(
        absl::StrCat(paths[0], " and ", paths[1],
                     " have no cell in common: same strategy, workers and varied settings"));
  }
  return diff.regressed;
}

}  // namespace

int DiffCommand(const CommandContext& context) {
  const absl::StatusOr<bool> regressed = PrintDiff(context);
  if (!regressed.ok()) return ExitStatus(regressed.status());
  return *regressed ? 1 : 0;
}

}  // namespace ringside
