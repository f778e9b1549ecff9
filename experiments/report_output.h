// The last thing that a command does: leave the pages and say where they are.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_OUTPUT_H_
#define RINGSIDE_EXPERIMENTS_REPORT_OUTPUT_H_

#include <string>

#include "absl/status/status.h"
#include "results.pb.h"

namespace ringside {

// Verdict, gates and warnings, on standard output.
void PrintVerdict(const ComparisonResult& comparison);

// Errors of WriteReport, but for a missing gnuplot: the numbers are on disk then, and a warning
// says how to get the pages.
absl::Status WriteReportAndSayWhere(const ComparisonResult& comparison, const std::string& folder);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_OUTPUT_H_
