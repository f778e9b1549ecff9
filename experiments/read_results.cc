#include "experiments/read_results.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "experiments/job_runner.h"
#include "experiments/report/comparison.h"
#include "experiments/report/report_writer.h"

namespace ringside {

namespace {

constexpr char kFile[] = "results.json";

}  // namespace

std::string ResultsFolder(const std::string& path) {
  if (path == kFile) return ".";
  return std::string(absl::StripSuffix(path, absl::StrCat("/", kFile)));
}

absl::StatusOr<ComparisonResult> ReadResults(const std::string& path) {
  const std::string folder = ResultsFolder(path);
  const absl::StatusOr<RunResult> run = ReadRunResult(folder);
  if (run.ok())
    return BuildComparison({*run}, {run->command().begin(), run->command().end()},
                           run->provenance());
  if (absl::IsNotFound(run.status())) return run.status();
  return ReadComparison(absl::StrCat(folder, "/", kFile));
}

}  // namespace ringside
