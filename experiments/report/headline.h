// How a comparison is introduced. Pure functions.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_HEADLINE_H_
#define RINGSIDE_EXPERIMENTS_REPORT_HEADLINE_H_

#include <string>
#include <vector>

#include "results.pb.h"

namespace ringside {

// The question of a sweep; else "ps or ring?", or "ring" where there is one contender.
std::string Headline(const ComparisonResult& comparison);

// "mlp on mnist", "235,146 parameters", "strong scaling, global batch 128", ...
std::vector<std::string> HeadlineFacts(const ComparisonResult& comparison);

// argv as one would type it, quoted where needed.
std::string CommandLineText(const ComparisonResult& comparison);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_HEADLINE_H_
