// The numbers that a contender's samples are summed up in. Pure.
#ifndef RINGSIDE_ALLREDUCE_BENCH_SAMPLE_STATISTICS_H_
#define RINGSIDE_ALLREDUCE_BENCH_SAMPLE_STATISTICS_H_

#include <cstdint>
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

// Fills in what both benches tell of a contender's times, from the samples of each round in
// seconds, and returns the statistics over all of them. `Measurement`: AllReduceMeasurement or
// PsMeasurement.
template <typename Measurement>
SampleStatistics RecordTimes(const std::vector<std::vector<double>>& rounds,
                             Measurement* measurement) {
  constexpr double kMicro = 1e6;
  std::vector<double> all;
  for (const std::vector<double>& samples : rounds) {
    measurement->add_round_median_us(Summarize(samples).median * kMicro);
    all.insert(all.end(), samples.begin(), samples.end());
  }
  const SampleStatistics statistics = Summarize(all);
  measurement->set_samples(static_cast<int64_t>(all.size()));
  measurement->set_time_us(statistics.median * kMicro);
  measurement->set_min_us(statistics.min * kMicro);
  measurement->set_p50_us(statistics.median * kMicro);
  measurement->set_p99_us(statistics.p99 * kMicro);
  measurement->set_cv(statistics.cv);
  return statistics;
}

// Sample i: the mean over ranks of iteration i. Ranks without any take no part; the others have
// equally many.
std::vector<double> MeanOverRanks(const std::vector<std::vector<double>>& by_rank);

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_BENCH_SAMPLE_STATISTICS_H_
