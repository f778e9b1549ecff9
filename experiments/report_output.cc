#include "experiments/report_output.h"

#include <stdio.h>

#include "absl/strings/str_cat.h"
#include "common/logging.h"
#include "experiments/report/report_writer.h"

namespace ringside {

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
