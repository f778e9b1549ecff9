// From a contender's turns to one line of the results. Pure.
#ifndef RINGSIDE_ALLREDUCE_BENCH_MEASUREMENT_H_
#define RINGSIDE_ALLREDUCE_BENCH_MEASUREMENT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "allreduce/bench/contender_catalog.h"
#include "allreduce_bench.pb.h"
#include "allreduce_bench_control.pb.h"

namespace ringside {

// How many iterations a turn has, where one takes `seconds`: enough for `min_time`, at least 5 to
// 200 by size (small vectors need more for a steady median), at most 20000.
int IterationsFor(int64_t bytes, double seconds, absl::Duration min_time);

// What all rounds of one contender at one world size and size gave. `rounds`: the answers by rank.
AllReduceMeasurement Measure(const Contender& contender, int world_size, int64_t bytes,
                             const std::string& type, bool in_place,
                             const std::vector<std::vector<RankDone>>& rounds);

// Fills in every share of a ceiling from the ceilings among the measurements themselves.
void AddCeilingShares(std::vector<AllReduceMeasurement>* measurements);

// DATA_LOSS: some sum is wrong, or the bytes counted are not those of the formula; names every such
// contender.
absl::Status CheckMeasurements(const std::vector<AllReduceMeasurement>& measurements);
bool TrafficAsExpected(const AllReduceMeasurement& measurement);

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_BENCH_MEASUREMENT_H_
