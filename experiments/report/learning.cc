#include "experiments/report/learning.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "experiments/report/cells.h"
#include "experiments/report/run_samples.h"
#include "experiments/report/setting_text.h"

namespace ringside {
namespace {

constexpr size_t kMostCurves = 8;

// Means of the last `window` losses, one for each step that has as many before it.
std::vector<LossPoint> Smoothed(const std::vector<LossPoint>& curve) {
  const auto window = static_cast<size_t>(SmoothingWindow(static_cast<int64_t>(curve.size())));
  std::vector<LossPoint> smoothed;
  double sum = 0;
  for (size_t i = 0; i < curve.size(); ++i) {
    sum += curve[i].loss;
    if (i >= window) sum -= curve[i - window].loss;
    if (i + 1 < window) continue;
    smoothed.push_back(curve[i]);
    smoothed.back().loss = sum / static_cast<double>(window);
  }
  return smoothed;
}

// Up, to two significant digits.
double RoundedUp(double value) {
  if (value <= 0) return value;
  const double unit = std::pow(10, std::floor(std::log10(value)) - 1);
  return std::ceil(value / unit - 1e-9) * unit;
}

// Number of workers that most cells have, the largest of those.
int SharedWorkers(const std::vector<Cell>& cells, const SeriesNames& names) {
  std::map<int, std::set<std::string>> series;
  for (const Cell& cell : cells) series[cell.workers()].insert(names.Of(cell));
  int workers = 0;
  size_t most = 0;
  for (const auto& [count, there] : series) {
    if (there.size() < most) continue;
    most = there.size();
    workers = count;
  }
  return workers;
}

}  // namespace

std::vector<LossPoint> LossCurve(const RunResult& run) {
  std::vector<LossPoint> curve;
  double time_s = 0;
  bool any = false;
  for (const StepSample& sample : StepSamples(run)) {
    time_s += sample.step_s;
    if (!std::isfinite(sample.loss)) continue;
    any = any || sample.loss != 0;
    curve.push_back({sample.step, time_s, sample.loss});
  }
  if (!any) curve.clear();
  return curve;
}

int64_t SmoothingWindow(int64_t steps) {
  return std::max<int64_t>(1, std::min<int64_t>(20, steps / 10));
}

absl::optional<LossPoint> FirstAtOrBelow(const std::vector<LossPoint>& curve, double target) {
  for (const LossPoint& point : Smoothed(curve)) {
    if (point.loss <= target) return point;
  }
  return absl::nullopt;
}

absl::optional<double> CommonTarget(const std::vector<std::vector<LossPoint>>& curves) {
  absl::optional<double> target;
  for (const std::vector<LossPoint>& curve : curves) {
    const std::vector<LossPoint> smoothed = Smoothed(curve);
    if (smoothed.empty()) return absl::nullopt;
    const auto least =
        std::min_element(smoothed.begin(), smoothed.end(),
                         [](const LossPoint& a, const LossPoint& b) { return a.loss < b.loss; });
    target = std::max(target.value_or(least->loss), least->loss);
  }
  if (target.has_value()) target = RoundedUp(*target);
  return target;
}

std::vector<ChosenCurve> ChosenCurves(const std::vector<Cell>& cells,
                                      const std::vector<RunResult>& runs,
                                      const SeriesNames& names) {
  const int workers = SharedWorkers(cells, names);
  std::map<std::string, std::set<std::string>> seen;  // final bits, by series
  std::vector<ChosenCurve> chosen;
  for (const Cell& cell : cells) {
    if (cell.workers() != workers || chosen.size() == kMostCurves) continue;
    const std::vector<const RunResult*> members = RunsOf(cell, runs);
    if (members.empty() || LossCurve(*members.front()).empty()) continue;
    const std::string series = names.Of(cell);
    const std::string bits = members.front()->worker_results(0).parameters_sha256();
    if (!seen[series].insert(bits).second) continue;
    chosen.push_back({&cell, members.front(), series, series});
  }
  for (ChosenCurve& curve : chosen) {
    const std::string point = PointText(curve.cell->point());
    if (seen[curve.series].size() > 1 && !point.empty())
      curve.label = absl::StrCat(curve.series, ", ", point);
  }
  return chosen;
}

}  // namespace ringside
