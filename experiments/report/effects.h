// How much a varied setting does to one series, in words. Pure.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_EFFECTS_H_
#define RINGSIDE_EXPERIMENTS_REPORT_EFFECTS_H_

#include <string>
#include <vector>

#include "results.pb.h"

namespace ringside {

// For each contender along each varied setting and context (curves.h), its fastest value against
// its slowest: "Effect of shards on ps, 4 workers: fastest with 4, 1.85 times as fast as with 1 (95
// % interval 1.80 to 1.90)", or that there is no significant difference. Not of the number of
// workers and of the network, whose effect is no question.
std::vector<std::string> DescribeEffects(const std::vector<Cell>& cells,
                                         const std::vector<RunResult>& runs);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_EFFECTS_H_
