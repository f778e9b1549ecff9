// Which strategy is faster, in one line for each number of workers, and only as far as the numbers
// carry. Pure functions.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_VERDICT_H_
#define RINGSIDE_EXPERIMENTS_REPORT_VERDICT_H_

#include <string>
#include <vector>

#include "results.pb.h"

namespace ringside {

// At each number of workers the contender with the shortest median step against every other one,
// ascending by workers. Oracles and cells without counted steps take no part.
std::vector<Contrast> BuildContrasts(const std::vector<Cell>& cells,
                                     const std::vector<RunResult>& runs);

// "4 workers: ring is 1.32 times as fast as ps (95 % interval 1.21 to 1.44)", or that there is no
// significant difference, too few trials, a single contender, or a failed gate: then there is no
// verdict at all.
std::vector<std::string> BuildVerdict(const std::vector<Cell>& cells,
                                      const std::vector<Contrast>& contrasts,
                                      const std::vector<Gate>& gates);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_VERDICT_H_
