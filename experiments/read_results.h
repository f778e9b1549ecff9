// Results that a command is given to read.
#ifndef RINGSIDE_EXPERIMENTS_READ_RESULTS_H_
#define RINGSIDE_EXPERIMENTS_READ_RESULTS_H_

#include <string>

#include "absl/status/statusor.h"
#include "results.pb.h"

namespace ringside {

// A folder with results, or the path of its results.json: a comparison as it is, or what worker 0
// of a job has left, which becomes a comparison of one run with its own command and provenance.
// NOT_FOUND: there is none; INVALID_ARGUMENT: it is neither of them.
absl::StatusOr<ComparisonResult> ReadResults(const std::string& path);

// The folder of either.
std::string ResultsFolder(const std::string& path);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_READ_RESULTS_H_
