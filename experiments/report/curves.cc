#include "experiments/report/curves.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "experiments/report/series.h"

namespace ringside {
namespace {

constexpr char kWorkers[] = "workers";

absl::optional<std::string> ValueOf(const Cell& cell, const std::string& setting) {
  if (setting == kWorkers) return absl::StrCat(cell.workers());
  const auto found = cell.point().find(setting);
  if (found == cell.point().end()) return absl::nullopt;
  return found->second;
}

std::vector<std::string> ValuesOf(const std::vector<Cell>& cells, const std::string& setting) {
  std::set<std::string> distinct;
  for (const Cell& cell : cells) {
    const absl::optional<std::string> value = ValueOf(cell, setting);
    if (value.has_value()) distinct.insert(*value);
  }
  std::vector<std::string> values(distinct.begin(), distinct.end());
  std::sort(values.begin(), values.end(), [&](const std::string& a, const std::string& b) {
    return std::make_pair(SortingNumbers(setting, a), a) <
           std::make_pair(SortingNumbers(setting, b), b);
  });
  return values;
}

// The curves along one setting, read in one way.
class SetBuilder {
 public:
  SetBuilder(const std::vector<Cell>& cells, const SeriesNames& names, const std::string& setting,
             const absl::optional<SettingAxis>& axis)
      : cells_(cells), names_(names), setting_(setting), axis_(axis) {
    std::set<std::string> rests;
    for (const std::string& value : ValuesOf(cells, setting)) {
      if (axis.has_value() && axis->Read(value).has_value()) rests.insert(axis->Rest(value));
    }
    several_rests_ = rests.size() > 1;
  }

  std::vector<CurveSet> Build() const {
    std::map<int, std::set<Point>> contexts;
    for (const Cell& cell : cells_) {
      if (Has(cell)) contexts[WorkersOf(cell)].insert(ContextPoint(cell));
    }
    std::vector<CurveSet> sets;
    for (auto entry = contexts.rbegin(); entry != contexts.rend(); ++entry) {
      for (const Point& point : FullPoints(entry->second)) {
        CurveSet set = BuildSet({entry->first, point});
        const bool drawable =
            std::any_of(set.curves.begin(), set.curves.end(),
                        [](const Curve& curve) { return curve.points.size() > 1; });
        if (drawable) sets.push_back(std::move(set));
      }
    }
    return sets;
  }

 private:
  bool Timed(const Cell& cell) const { return cell.counted_steps() > 0; }
  // It has a place along the setting.
  bool Has(const Cell& cell) const {
    const absl::optional<std::string> value = ValueOf(cell, setting_);
    return Timed(cell) && value.has_value() &&
           (!axis_.has_value() || axis_->Read(*value).has_value());
  }
  int WorkersOf(const Cell& cell) const { return setting_ == kWorkers ? 0 : cell.workers(); }

  // Of a cell that has a place, or of one that takes no notice of the setting.
  Point ContextPoint(const Cell& cell) const {
    Point point = PointOf(cell);
    const auto found = point.find(setting_);
    if (found == point.end()) return point;
    if (several_rests_) {
      found->second = axis_->Rest(found->second);
    } else {
      point.erase(found);
    }
    return point;
  }

  CurveSet BuildSet(const CurveContext& context) const {
    CurveSet set = {setting_, axis_, context, {}, {}};
    for (const std::string& series : names_.all()) {
      Curve curve = {series, {}, false};
      const Cell* level = nullptr;
      for (const Cell& cell : cells_) {
        if (!Timed(cell) || names_.Of(cell) != series || WorkersOf(cell) != context.workers ||
            !IsPartOf(ContextPoint(cell), context.point))
          continue;
        const absl::optional<std::string> value = ValueOf(cell, setting_);
        if (!value.has_value()) level = &cell;
        if (Has(cell))
          curve.points.push_back({*value, axis_.has_value() ? *axis_->Read(*value) : 0, &cell});
      }
      if (curve.points.empty() && level != nullptr) curve = {series, {{"", 0, level}}, true};
      if (curve.points.empty()) continue;
      std::stable_sort(curve.points.begin(), curve.points.end(),
                       [](const CurvePoint& a, const CurvePoint& b) { return a.at < b.at; });
      set.curves.push_back(std::move(curve));
    }
    for (const std::string& value : ValuesOf(cells_, setting_)) {
      const bool any = std::any_of(
          set.curves.begin(), set.curves.end(),
          [&value](const Curve& curve) { return !curve.level && CellAt(curve, value) != nullptr; });
      if (any) set.values.push_back(value);
    }
    return set;
  }

  const std::vector<Cell>& cells_;
  const SeriesNames& names_;
  const std::string& setting_;
  const absl::optional<SettingAxis>& axis_;
  bool several_rests_ = false;
};

}  // namespace

std::string CurveContext::Text() const {
  if (workers > 0) return PlaceText(workers, point);
  return PointText(point);
}

const Cell* CellAt(const Curve& curve, const std::string& value) {
  if (curve.level) return curve.points.front().cell;
  for (const CurvePoint& point : curve.points) {
    if (point.value == value) return point.cell;
  }
  return nullptr;
}

std::vector<CurveSet> CurveSets(const std::vector<Cell>& cells) {
  std::set<std::string> settings = {kWorkers};
  for (const Cell& cell : cells) {
    for (const auto& entry : cell.point()) settings.insert(entry.first);
  }
  const SeriesNames names(cells);
  std::vector<CurveSet> sets;
  for (const std::string& setting : settings) {
    std::vector<absl::optional<SettingAxis>> axes;
    if (setting == kWorkers) axes.emplace_back(WorkersAxis());
    if (setting != kWorkers) {
      for (const SettingAxis& axis : AxesOf(setting, ValuesOf(cells, setting)))
        axes.emplace_back(axis);
    }
    if (axes.empty()) axes.emplace_back(absl::nullopt);
    for (const absl::optional<SettingAxis>& axis : axes) {
      for (CurveSet& set : SetBuilder(cells, names, setting, axis).Build())
        sets.push_back(std::move(set));
    }
  }
  return sets;
}

}  // namespace ringside
