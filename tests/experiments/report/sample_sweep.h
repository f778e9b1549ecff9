// A made-up sweep for tests: everything that a comparison of a sweep has.
#ifndef RINGSIDE_TESTS_EXPERIMENTS_REPORT_SAMPLE_SWEEP_H_
#define RINGSIDE_TESTS_EXPERIMENTS_REPORT_SAMPLE_SWEEP_H_

#include <cstdint>

#include "results.pb.h"

namespace ringside {

// ps (one server) and ring at 2 and 4 workers over three bandwidths, with a crossover, a forecast,
// a slow rank at 4 workers, and a point that was skipped.
ComparisonResult SampleSweep(int trials, int64_t steps);

}  // namespace ringside

#endif  // RINGSIDE_TESTS_EXPERIMENTS_REPORT_SAMPLE_SWEEP_H_
