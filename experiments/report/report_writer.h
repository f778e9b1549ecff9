// Puts a comparison on disk as files for people and programs, and reads it back.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_REPORT_WRITER_H_
#define RINGSIDE_EXPERIMENTS_REPORT_REPORT_WRITER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiments/report/figure.h"
#include "results.pb.h"

namespace ringside {

// Writes into `out_dir`, which is made where it is not there: results.json, results.csv,
// summary.md, then figures/*.svg and
// *.csv, and report.html last. Each file appears whole or not at all. Data first: where drawing
// fails, the measurement is kept, and `ringside report` can draw it later. UNAVAILABLE: gnuplot is
// missing (names the package). INTERNAL: gnuplot refused a figure. File errors as WriteTextFile.
absl::Status WriteReport(const ComparisonResult& comparison, const std::string& out_dir);

// Reads results.json of WriteReport. NOT_FOUND and other file errors as ReadTextFile;
// INVALID_ARGUMENT: not a comparison, or of another schema version.
absl::StatusOr<ComparisonResult> ReadComparison(const std::string& path_to_results_json);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_REPORT_WRITER_H_
