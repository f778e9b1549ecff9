// Which strategy is faster, in one line for each number of workers and point of a sweep, and only
// as far as the numbers carry. Pure functions.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_VERDICT_H_
#define RINGSIDE_EXPERIMENTS_REPORT_VERDICT_H_

#include <string>
#include <vector>

#include "results.pb.h"

namespace ringside {

// With fewer trials of either nothing is called significant.
constexpr int kLeastTrials = 2;

// At each place the contender with the shortest median step against every other one, ascending by
// workers and point. Oracles and cells without counted steps take no part.
std::vector<Contrast> BuildContrasts(const std::vector<Cell>& cells,
                                     const std::vector<RunResult>& runs);

// "4 workers, network 1gbit,100us: ring is 1.32 times as fast as ps (95 % interval 1.21 to 1.44)",
// or that there is no significant difference, too few trials, a single contender, or a failed gate:
// then there is no verdict at all. Where cores are oversubscribed the line says so. Crossovers come
// first, then `effects` (effects.h).
std::vector<std::string> BuildVerdict(const std::vector<Cell>& cells,
                                      const std::vector<Contrast>& contrasts,
                                      const std::vector<Crossover>& crossovers,
                                      const std::vector<std::string>& effects,
                                      const std::vector<Gate>& gates);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_VERDICT_H_
