// Several results made one. Pure.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_MERGE_RESULTS_H_
#define RINGSIDE_EXPERIMENTS_REPORT_MERGE_RESULTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "experiments/report/comparison.h"
#include "results.pb.h"

namespace ringside {

struct NamedResult {
  std::string name;  // of its folder, for messages
  ComparisonResult result;
};

// The runs of all parts, each once: a run that is there twice (a folder was given twice, or one
// that holds another's runs) counts once, and a warning tells. Question, what is varied and
// warnings of sweeps are those of all parts; command and provenance those of the first; a forecast
// is not kept, because it is of one part's runs. INVALID_ARGUMENT: a part was made by another build
// or on another machine, and `inequality` is refused: names the part and all that differs.
// REQUIRES: a part.
absl::StatusOr<ComparisonResult> MergeResults(const std::vector<NamedResult>& parts,
                                              const std::vector<std::string>& command,
                                              Inequality inequality);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_MERGE_RESULTS_H_
