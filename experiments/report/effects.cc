#include "experiments/report/effects.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "experiments/report/cells.h"
#include "experiments/report/curves.h"
#include "experiments/report/series.h"
#include "experiments/report/setting_text.h"
#include "experiments/report/verdict.h"

namespace ringside {
namespace {

std::string EffectText(const CurveSet& set, const Curve& curve,
                       const std::vector<RunResult>& runs) {
  const auto by_step = [](const CurvePoint& a, const CurvePoint& b) {
    return a.cell->step_s().median() < b.cell->step_s().median();
  };
  const auto [fastest, slowest] =
      std::minmax_element(curve.points.begin(), curve.points.end(), by_step);
  const IntervalEstimate ratio = MedianRatioInterval(StepTimes(RunsOf(*slowest->cell, runs)),
                                                     StepTimes(RunsOf(*fastest->cell, runs)));
  const std::string where = set.context.Text();
  const std::string interval =
      absl::StrFormat("95 %% interval %.2f to %.2f", ratio.low, ratio.high);
  const std::string best = SettingValueText(set.setting, fastest->value);
  const std::string worst = SettingValueText(set.setting, slowest->value);
  const bool told = std::min(fastest->cell->trials(), slowest->cell->trials()) >= kLeastTrials;
  return absl::StrCat(
      "Effect of ", absl::AsciiStrToLower(SettingTitle(set.setting)), " on ", curve.series,
      where.empty() ? "" : ", ", where, ": ",
      told && ratio.low > 1
          ? absl::StrFormat("fastest with %s, %.2f times as fast as with %s (%s)", best,
                            ratio.median, worst, interval)
          : absl::StrFormat(
                "no significant difference between the fastest, %s, and the slowest, %s "
                "(ratio %.2f, %s)",
                best, worst, ratio.median, interval));
}

}  // namespace

std::vector<std::string> DescribeEffects(const std::vector<Cell>& cells,
                                         const std::vector<RunResult>& runs) {
  std::vector<std::string> lines;
  for (const CurveSet& set : CurveSets(cells)) {
    if (set.setting == "workers" || set.setting == "network") continue;
    for (const Curve& curve : set.curves) {
      if (curve.level || curve.points.size() < 2) continue;
      if (!IsOracle(curve.points.front().cell->strategy()))
        lines.push_back(EffectText(set, curve, runs));
    }
  }
  return lines;
}

}  // namespace ringside
