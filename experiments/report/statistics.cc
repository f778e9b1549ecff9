#include "experiments/report/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <utility>

#include "common/check.h"

namespace ringside {
namespace {

constexpr uint64_t kSeed = 20170221;

// Draws indices and resamples. Own mapping from bits to an index, because that of
// std::uniform_int_distribution differs between standard libraries; its bias of n / 2^32 is far
// below the noise of a bootstrap.
class Resampler {
 public:
  Resampler(const Trials& trials, uint64_t seed) : trials_(trials), generator_(seed) {
    for (const std::vector<double>& trial : trials) RINGSIDE_CHECK(!trial.empty());
  }

  // Median of the pooled samples of one resample.
  double NextMedian() {
    sample_.clear();
    for (size_t i = 0; i < trials_.size(); ++i) {
      const std::vector<double>& trial = trials_[Index(trials_.size())];
      for (size_t j = 0; j < trial.size(); ++j) sample_.push_back(trial[Index(trial.size())]);
    }
    return MedianInPlace();
  }

 private:
  size_t Index(size_t size) { return (generator_() >> 32) * size >> 32; }

  double MedianInPlace() {
    const auto middle = sample_.begin() + static_cast<ptrdiff_t>(sample_.size() / 2);
    std::nth_element(sample_.begin(), middle, sample_.end());
    if (sample_.size() % 2 == 1) return *middle;
    return (*std::max_element(sample_.begin(), middle) + *middle) / 2;
  }

  const Trials& trials_;
  std::mt19937_64 generator_;
  std::vector<double> sample_;
};

Trials WithoutEmpty(const Trials& trials) {
  Trials kept;
  for (const std::vector<double>& trial : trials) {
    if (!trial.empty()) kept.push_back(trial);
  }
  return kept;
}

IntervalEstimate MiddleOf(std::vector<double> resampled, double estimate) {
  const double tail = (1 - kConfidence) / 2;
  std::sort(resampled.begin(), resampled.end());
  return {Percentile(resampled, tail), estimate, Percentile(resampled, 1 - tail)};
}

}  // namespace

double Percentile(std::vector<double> values, double fraction) {
  RINGSIDE_CHECK(fraction >= 0 && fraction <= 1);
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double position = fraction * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(position);
  if (below + 1 >= values.size()) return values.back();
  const double weight = position - static_cast<double>(below);
  return values[below] + weight * (values[below + 1] - values[below]);
}

double Median(std::vector<double> values) { return Percentile(std::move(values), 0.5); }

double Mean(absl::Span<const double> values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double MedianAbsoluteDeviation(const std::vector<double>& values) {
  const double median = Median(values);
  std::vector<double> distances;
  for (double value : values) distances.push_back(std::abs(value - median));
  return Median(std::move(distances));
}

double CoefficientOfVariation(absl::Span<const double> values) {
  const double mean = Mean(values);
  if (values.size() < 2 || mean == 0) return 0;
  double squares = 0;
  for (double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1)) / mean;
}

std::vector<double> Pooled(const Trials& trials) {
  std::vector<double> pooled;
  for (const std::vector<double>& trial : trials) {
    pooled.insert(pooled.end(), trial.begin(), trial.end());
  }
  return pooled;
}

IntervalEstimate MedianInterval(const Trials& trials) {
  const Trials kept = WithoutEmpty(trials);
  if (kept.empty()) return {};
  Resampler resampler(kept, kSeed);
  std::vector<double> medians;
  for (int i = 0; i < kBootstrapResamples; ++i) medians.push_back(resampler.NextMedian());
  return MiddleOf(std::move(medians), Median(Pooled(kept)));
}

IntervalEstimate MedianFunctionInterval(
    const std::vector<Trials>& samples,
    const std::function<double(absl::Span<const double>)>& function) {
  std::vector<Trials> kept;
  std::vector<double> medians;
  for (const Trials& trials : samples) {
    kept.push_back(WithoutEmpty(trials));
    if (kept.back().empty()) return {};
    medians.push_back(Median(Pooled(kept.back())));
  }
  // A seed for each: with one, all would draw alike, as if the trials were pairs.
  std::vector<Resampler> resamplers;
  for (size_t i = 0; i < kept.size(); ++i) resamplers.emplace_back(kept[i], kSeed + i);
  const double estimate = function(medians);
  std::vector<double> values;
  for (int i = 0; i < kBootstrapResamples; ++i) {
    for (size_t j = 0; j < resamplers.size(); ++j) medians[j] = resamplers[j].NextMedian();
    values.push_back(function(medians));
  }
  return MiddleOf(std::move(values), estimate);
}

IntervalEstimate MedianRatioInterval(const Trials& numerator, const Trials& denominator) {
  if (Median(Pooled(denominator)) == 0) return {};
  return MedianFunctionInterval({numerator, denominator}, [](absl::Span<const double> medians) {
    return medians[0] / medians[1];
  });
}

}  // namespace ringside
