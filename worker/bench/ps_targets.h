// The numbers that the parameter server is to reach, and whether a run reaches them. Pure.
#ifndef RINGSIDE_WORKER_BENCH_PS_TARGETS_H_
#define RINGSIDE_WORKER_BENCH_PS_TARGETS_H_

#include <string>
#include <vector>

#include "ps_bench.pb.h"

namespace ringside {

// Every target, also where nothing was measured: then ratio is 0 and it is not met.
std::vector<PsTarget> EvaluatePsTargets(const std::vector<PsMeasurement>& results,
                                        const std::vector<PsShardMemory>& memory);

// As an aligned table: measured, reference, ratio, target, and "met", "MISSED" or "not measured".
std::string PsTargetTable(const std::vector<PsTarget>& targets);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_BENCH_PS_TARGETS_H_
