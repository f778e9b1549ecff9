// Makes a comparison of the runs of an experiment: gates, cells, contrasts, crossovers, verdict and
// warnings. Pure.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_COMPARISON_H_
#define RINGSIDE_EXPERIMENTS_REPORT_COMPARISON_H_

#include <string>
#include <vector>

#include "experiments/inequality.h"
#include "results.pb.h"

namespace ringside {

constexpr int kResultsSchemaVersion = 1;

// What an experiment says of itself beyond its runs.
struct SweepFacts {
  std::string question;               // that it is to answer
  std::vector<std::string> varied;    // settings, by flag name, that differ between its points
  std::vector<std::string> warnings;  // that do not follow from the runs
};

// Any number of runs, a single one and none included; runs that fail a gate too: the result then
// says so and gives no verdict and no crossovers. `command` is the argv that started the
// experiment. Times are of the slowest rank of each step, warm-up left out. Where inequality is
// allowed, the settings gate passes and tells the differences, a warning does too, and what differs
// between runs of one strategy is added to what is varied, so that no cell mixes them.
ComparisonResult BuildComparison(const std::vector<RunResult>& runs,
                                 const std::vector<std::string>& command,
                                 const Provenance& provenance, const SweepFacts& sweep = {},
                                 Inequality inequality = Inequality::kRefused);

// The same from what is in a result already: its runs, command, provenance and facts. The forecast,
// which others make, is kept.
ComparisonResult RebuildComparison(const ComparisonResult& stored,
                                   Inequality inequality = Inequality::kRefused);

SweepFacts FactsOf(const ComparisonResult& comparison);

bool AllGatesPassed(const ComparisonResult& comparison);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_COMPARISON_H_
