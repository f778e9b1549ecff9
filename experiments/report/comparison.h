// Makes a comparison of the runs of an experiment: gates, cells, contrasts, verdict and warnings.
// Pure.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_COMPARISON_H_
#define RINGSIDE_EXPERIMENTS_REPORT_COMPARISON_H_

#include <string>
#include <vector>

#include "results.pb.h"

namespace ringside {

constexpr int kResultsSchemaVersion = 1;

// What a sweep says of its runs.
struct SweepFacts {
  std::string question;               // that it is to answer
  std::vector<std::string> varied;    // settings, by flag name, that differ between its points
  std::vector<std::string> warnings;  // its own; they come first
};

// Any number of runs, a single one and none included; runs that fail a gate too: the result then
// says so and gives no verdict. `command` is the argv that started the experiment. Times are of the
// slowest rank of each step, warm-up left out.
ComparisonResult BuildComparison(const std::vector<RunResult>& runs,
                                 const std::vector<std::string>& command,
                                 const Provenance& provenance, const SweepFacts& sweep = {});

bool AllGatesPassed(const ComparisonResult& comparison);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_COMPARISON_H_
