// Crossovers as sentences. Pure.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_CROSSOVER_TEXT_H_
#define RINGSIDE_EXPERIMENTS_REPORT_CROSSOVER_TEXT_H_

#include <string>
#include <vector>

#include "results.pb.h"

namespace ringside {

// "With 4 workers ps is faster below 340 Mbit/s, ring above (95 % interval 310 to 380 Mbit/s;
// measured at 200 and 500)."
std::vector<std::string> CrossoverSentences(const ComparisonResult& comparison);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_CROSSOVER_TEXT_H_
