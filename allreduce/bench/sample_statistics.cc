#include "allreduce/bench/sample_statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/check.h"

namespace ringside {
namespace {

double Percentile(const std::vector<double>& sorted, double fraction) {
  const double position = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(position);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (position - static_cast<double>(below));
}

}  // namespace

SampleStatistics Summarize(std::vector<double> samples) {
  SampleStatistics statistics;
  if (samples.empty()) return statistics;
  std::sort(samples.begin(), samples.end());
  const auto count = static_cast<double>(samples.size());
  statistics.min = samples.front();
  statistics.median = Percentile(samples, 0.5);
  statistics.p99 = Percentile(samples, 0.99);
  statistics.mean = std::accumulate(samples.begin(), samples.end(), 0.0) / count;
  double squares = 0;
  for (const double sample : samples) {
    squares += (sample - statistics.mean) * (sample - statistics.mean);
  }
  if (statistics.mean > 0) statistics.cv = std::sqrt(squares / count) / statistics.mean;
  return statistics;
}

std::vector<double> MeanOverRanks(const std::vector<std::vector<double>>& by_rank) {
  std::vector<double> means;
  double ranks = 0;
  for (const std::vector<double>& samples : by_rank) {
    if (samples.empty()) continue;
    if (means.empty()) means.resize(samples.size());
    RINGSIDE_CHECK(samples.size() == means.size());
    std::transform(samples.begin(), samples.end(), means.begin(), means.begin(),
                   std::plus<double>());
    ranks += 1;
  }
  for (double& mean : means) mean /= ranks;
  return means;
}

}  // namespace ringside
