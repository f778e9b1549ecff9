#include "experiments/report_output.h"

#include <stdio.h>

#include "absl/strings/str_cat.h"
#include "common/logging.h"
#include "experiments/report/report_writer.h"

namespace ringside {

void PrintVerdict(const ComparisonResult& comparison) {
  for (const std::string& line : comparison.verdict()) printf("%s\n", line.c_str());
  for (const Gate& gate : comparison.gates()) {
    printf("%-4s %s%s%s\n", gate.passed() ? "ok" : "FAIL", gate.name().c_str(),
           gate.detail().empty() ? "" : ": ", gate.detail().c_str());
  }
  for (const std::string& line : comparison.warnings()) printf("warning: %s\n", line.c_str());
}

absl::Status WriteReportAndSayWhere(const ComparisonResult& comparison, const std::string& folder) {
  const absl::Status written = WriteReport(comparison, folder);
  if (absl::IsUnavailable(written)) {
    LogWarning(absl::StrCat(written.message(), "; the numbers are in ", folder,
                            ", and `ringside report ", folder, "` makes the pages"));
    return absl::OkStatus();
  }
  if (written.ok()) printf("report: %s/report.html\n", folder.c_str());
  return written;
}

}  // namespace ringside
