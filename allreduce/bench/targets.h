// What the project wants to reach, and whether a run does. Pure.
#ifndef RINGSIDE_ALLREDUCE_BENCH_TARGETS_H_
#define RINGSIDE_ALLREDUCE_BENCH_TARGETS_H_

#include <string>
#include <vector>

#include "allreduce/bench/contender_catalog.h"
#include "allreduce_bench.pb.h"

namespace ringside {

// The contenders that the targets speak of, as far as they are built.
std::vector<std::string> TargetContenders(const BuiltBaselines& built);

// One entry for each target, world size and size, in the order of the table. Of several opponents
// the fastest counts. An entry without a ratio was not measured.
std::vector<AllReduceTarget> EvaluateTargets(const std::vector<AllReduceMeasurement>& results);

// As text, a line each, with a heading.
std::string TargetTable(const std::vector<AllReduceTarget>& targets);

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_BENCH_TARGETS_H_
