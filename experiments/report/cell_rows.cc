#include "experiments/report/cell_rows.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "experiments/report/cells.h"
#include "experiments/report/point.h"
#include "experiments/report/setting_text.h"

namespace ringside {
namespace {

// The name of the series, or a column of its own, says these.
bool InTheName(const std::string& setting) {
  static const auto* const names = new std::set<std::string>{
      "strategy", "strategies", "workers", "ps_mode", "update", "staleness", "backup_workers"};
  return names->count(setting) > 0;
}

}  // namespace

CellRows::CellRows(const ComparisonResult& comparison, const std::vector<std::string>& shown)
    : cells_(comparison.cells().begin(), comparison.cells().end()),
      runs_(comparison.runs().begin(), comparison.runs().end()),
      names_(cells_) {
  std::set<std::string> in_points;
  for (const Cell& cell : cells_) {
    for (const auto& entry : cell.point()) in_points.insert(entry.first);
  }
  for (const std::string& setting : in_points) {
    const bool has_column = std::find(shown.begin(), shown.end(), setting) != shown.end();
    if (!has_column && !InTheName(setting)) varied_.push_back(setting);
  }
}

std::vector<Column> CellRows::Columns() const {
  std::vector<Column> columns = {{"Workers", true}, {"Strategy"}};
  for (const std::string& setting : varied_) columns.push_back({SettingTitle(setting)});
  return columns;
}

std::vector<Field> CellRows::Fields(const Cell& cell) const {
  const std::string series = names_.Of(cell);
  std::vector<Field> fields = {{absl::StrCat(cell.workers())},
                               {series, Field::Kind::kSeries, "", names_.Colour(series)}};
  for (const std::string& setting : varied_) {
    const auto found = cell.point().find(setting);
    fields.push_back(found == cell.point().end() ? NoValue()
                                                 : Field{SettingValueText(setting, found->second)});
  }
  return fields;
}

std::string CellRows::NameOf(const Cell& cell) const {
  return absl::StrCat(names_.Of(cell), " with ", PlaceText(cell.workers(), PointOf(cell)));
}

std::vector<const RunResult*> CellRows::RunsOf(const Cell& cell) const {
  return ringside::RunsOf(cell, runs_);
}

}  // namespace ringside
