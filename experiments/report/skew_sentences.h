// The skew of a comparison in sentences. Pure.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_SKEW_SENTENCES_H_
#define RINGSIDE_EXPERIMENTS_REPORT_SKEW_SENTENCES_H_

#include <string>
#include <vector>

#include "results.pb.h"

namespace ringside {

// Which ranks are chronically slow, a sentence for each rank and number of workers; how often
// others were at times; where clocks are not known well enough; where arrivals were not recorded.
// Empty where no cell has several worker processes.
std::vector<std::string> SlowRankSentences(const ComparisonResult& comparison);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_SKEW_SENTENCES_H_
