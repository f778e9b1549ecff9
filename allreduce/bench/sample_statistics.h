// The numbers that a contender's samples are summed up in. Pure.
#ifndef RINGSIDE_ALLREDUCE_BENCH_SAMPLE_STATISTICS_H_
#define RINGSIDE_ALLREDUCE_BENCH_SAMPLE_STATISTICS_H_

#include <vector>

namespace ringside {

struct SampleStatistics {
  double min = 0;
  double median = 0;
  double p99 = 0;
  double mean = 0;
  double cv = 0;  // standard deviation (of the samples given, not corrected) over mean
};

// Percentiles are interpolated between the two nearest samples. All zero without samples.
SampleStatistics Summarize(std::vector<double> samples);

// Sample i: the mean over ranks of iteration i. Ranks without any take no part; the others have
// equally many.
std::vector<double> MeanOverRanks(const std::vector<std::vector<double>>& by_rank);

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_BENCH_SAMPLE_STATISTICS_H_
