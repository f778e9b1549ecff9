#include "experiments/report/crossovers.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "experiments/report/cells.h"
#include "experiments/report/series.h"
#include "experiments/report/verdict.h"

namespace ringside {
namespace {

// Places as they are interpolated: their logarithms where all have one.
class Scale {
 public:
  explicit Scale(const std::vector<CrossoverSample>& samples)
      : logarithmic_(std::all_of(samples.begin(), samples.end(),
                                 [](const CrossoverSample& sample) { return sample.at > 0; })) {}

  // `share` of the way from one place to the other.
  double Between(double from, double to, double share) const {
    if (!logarithmic_) return from + share * (to - from);
    return std::exp(std::log(from) + share * (std::log(to) - std::log(from)));
  }

 private:
  bool logarithmic_;
};

// Where a line from `left` to `right`, both logarithms of ratios, is 0, as a share of the way; the
// nearer end where it is not.
double ZeroShare(double left, double right) {
  if ((left < 0) != (right < 0)) return left / (left - right);
  return std::abs(left) < std::abs(right) ? 0 : 1;
}

size_t TrialsOf(const CrossoverSample& sample) {
  const auto timed = [](const Trials& trials) {
    return static_cast<size_t>(std::count_if(trials.begin(), trials.end(),
                                             [](const auto& trial) { return !trial.empty(); }));
  };
  return std::min(timed(sample.first), timed(sample.second));
}

// -1: the first is significantly faster, 1: the second, 0: neither.
int FasterAt(const CrossoverSample& sample) {
  if (TrialsOf(sample) < kLeastTrials) return 0;
  const IntervalEstimate ratio = MedianRatioInterval(sample.first, sample.second);
  if (ratio.low > 1) return 1;
  return ratio.high > 0 && ratio.high < 1 ? -1 : 0;
}

double LogRatio(const CrossoverSample& sample) {
  return std::log(Median(Pooled(sample.first)) / Median(Pooled(sample.second)));
}

IntervalEstimate Interpolated(const CrossoverSample& left, const CrossoverSample& right,
                              const Scale& scale) {
  return MedianFunctionInterval(
      {left.first, left.second, right.first, right.second}, [&](absl::Span<const double> medians) {
        return scale.Between(
            left.at, right.at,
            ZeroShare(std::log(medians[0] / medians[1]), std::log(medians[2] / medians[3])));
      });
}

// Where the medians first change sides between the samples `from` and `to`.
double FirstChange(const std::vector<CrossoverSample>& samples, size_t from, size_t to,
                   const Scale& scale) {
  for (size_t i = from; i < to; ++i) {
    const double left = LogRatio(samples[i]);
    const double right = LogRatio(samples[i + 1]);
    if ((left < 0) != (right < 0) || i + 1 == to)
      return scale.Between(samples[i].at, samples[i + 1].at, ZeroShare(left, right));
  }
  return samples[to].at;
}

Trials TimesAt(const Curve& curve, const std::string& value, const std::vector<RunResult>& runs) {
  const Cell* cell = CellAt(curve, value);
  return cell == nullptr ? Trials() : StepTimes(RunsOf(*cell, runs));
}

std::vector<CrossoverSample> SamplesOf(const CurveSet& set, const Curve& first, const Curve& second,
                                       const std::vector<RunResult>& runs) {
  std::vector<CrossoverSample> samples;
  for (const std::string& value : set.values) {
    // A ring of one sends nothing.
    if (set.axis->quantity() == SettingAxis::Quantity::kWorkers && value == "1") continue;
    CrossoverSample sample = {*set.axis->Read(value), TimesAt(first, value, runs),
                              TimesAt(second, value, runs)};
    if (!sample.first.empty() && !sample.second.empty()) samples.push_back(std::move(sample));
  }
  std::stable_sort(samples.begin(), samples.end(),
                   [](const CrossoverSample& a, const CrossoverSample& b) { return a.at < b.at; });
  return samples;
}

Crossover ToProto(const CrossoverEstimate& estimate, const CurveSet& set, const Curve& first,
                  const Curve& second) {
  Crossover crossover;
  crossover.set_setting(set.setting);
  crossover.set_unit(set.axis->Unit());
  crossover.set_workers(set.context.workers);
  crossover.mutable_point()->insert(set.context.point.begin(), set.context.point.end());
  crossover.set_faster_below(estimate.first_is_faster_below ? first.series : second.series);
  crossover.set_faster_above(estimate.first_is_faster_below ? second.series : first.series);
  *crossover.mutable_value() = ringside::ToProto(estimate.value);
  crossover.set_below(estimate.below);
  crossover.set_above(estimate.above);
  crossover.set_interpolated(estimate.interpolated);
  return crossover;
}

// With the number of its unit, for whoever has none of the axes.
SettingAxis AxisOf(const Crossover& crossover) {
  using Quantity = SettingAxis::Quantity;
  for (Quantity quantity :
       {Quantity::kBandwidth, Quantity::kLatency, Quantity::kBytes, Quantity::kWorkers}) {
    SettingAxis axis(crossover.setting(), quantity);
    if (axis.Unit() == crossover.unit()) return axis;
  }
  return {crossover.setting(), Quantity::kNumber};
}

}  // namespace

std::vector<CrossoverEstimate> FindCrossovers(const std::vector<CrossoverSample>& samples) {
  const Scale scale(samples);
  std::vector<CrossoverEstimate> found;
  int before = 0;  // who was faster at the last place where anybody was
  size_t before_at = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    const int now = FasterAt(samples[i]);
    if (now == 0) continue;
    if (before != 0 && now != before) {
      const CrossoverSample& left = samples[before_at];
      CrossoverEstimate& estimate = found.emplace_back();
      estimate.first_is_faster_below = before < 0;
      estimate.below = left.at;
      estimate.above = samples[i].at;
      estimate.interpolated = before_at + 1 == i;
      estimate.value =
          estimate.interpolated
              ? Interpolated(left, samples[i], scale)
              : IntervalEstimate{left.at, FirstChange(samples, before_at, i, scale), samples[i].at};
    }
    before = now;
    before_at = i;
  }
  return found;
}

std::vector<Crossover> BuildCrossovers(const std::vector<Cell>& cells,
                                       const std::vector<RunResult>& runs) {
  std::vector<Crossover> crossovers;
  for (const CurveSet& set : CurveSets(cells)) {
    if (!set.axis.has_value()) continue;
    for (const Curve& servers : set.curves) {
      if (!IsParameterServer(servers.points.front().cell->strategy())) continue;
      for (const Curve& other : set.curves) {
        const std::string& strategy = other.points.front().cell->strategy();
        if (IsParameterServer(strategy) || IsOracle(strategy)) continue;
        for (const CrossoverEstimate& estimate :
             FindCrossovers(SamplesOf(set, servers, other, runs)))
          crossovers.push_back(ToProto(estimate, set, servers, other));
      }
    }
  }
  return crossovers;
}

std::string CrossoverNumber(const Crossover& crossover, double number) {
  return AxisOf(crossover).Text(number);
}

std::string CrossoverText(const Crossover& crossover) {
  const CurveContext context = {crossover.workers(),
                                {crossover.point().begin(), crossover.point().end()}};
  const auto number = [&crossover](double value) { return CrossoverNumber(crossover, value); };
  const std::string where = context.Text();
  std::string text = absl::StrCat("Crossover along ", AxisOf(crossover).Title(),
                                  where.empty() ? "" : ", ", where, ": ");
  if (crossover.interpolated()) {
    absl::StrAppendFormat(&text,
                          "%s is faster below %s, %s above (95 %% interval %s to %s; measured at "
                          "%s and %s)",
                          crossover.faster_below(), number(crossover.value().median()),
                          crossover.faster_above(), number(crossover.value().low()),
                          number(crossover.value().high()), number(crossover.below()),
                          number(crossover.above()));
  } else {
    absl::StrAppendFormat(&text,
                          "%s is faster at %s, %s at %s (no significant difference in between; "
                          "the medians cross near %s)",
                          crossover.faster_below(), number(crossover.below()),
                          crossover.faster_above(), number(crossover.above()),
                          number(crossover.value().median()));
  }
  return text;
}

}  // namespace ringside
