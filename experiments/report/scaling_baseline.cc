#include "experiments/report/scaling_baseline.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "experiments/report/number_text.h"
#include "experiments/report/point.h"
#include "experiments/report/series.h"

namespace ringside {
namespace {

bool HasRate(const Cell& cell) { return cell.samples_per_s().median() > 0; }

// In which order cells are taken for the process that does not communicate; 0: never.
int Preference(const Cell& cell) {
  if (!HasRate(cell)) return 0;
  if (cell.workers() == 1 && cell.strategy() == "ring") return 3;
  if (cell.workers() == 1 && cell.strategy() == "direct") return 2;
  return IsOracle(cell.strategy()) ? 1 : 0;
}

// What decides how fast a process computes.
Point WithoutTransport(const Point& point) {
  Point kept;
  for (const auto& [setting, value] : point) {
    if (!IsOfTransportOnly(setting)) kept.emplace(setting, value);
  }
  return kept;
}

// Nothing where no process without communication was measured.
const Cell* SingleProcess(const Cell& cell, const std::vector<Cell>& cells) {
  const Point here = PointOf(cell);
  const Cell* best = nullptr;
  std::pair<bool, int> best_rank;
  for (const Cell& candidate : cells) {
    const Point there = PointOf(candidate);
    if (Preference(candidate) == 0 ||
        !AreCompatible(WithoutTransport(there), WithoutTransport(here)))
      continue;
    // Cells come by number of workers: of two that are alike the smaller stays.
    const std::pair<bool, int> rank(AreCompatible(there, here), Preference(candidate));
    if (best != nullptr && rank <= best_rank) continue;
    best = &candidate;
    best_rank = rank;
  }
  return best;
}

std::string Text(const Cell& baseline, const std::string& series) {
  if (IsOracle(baseline.strategy())) return absl::StrCat(series, ", one process");
  return absl::StrCat(series, " with ", Counted(baseline.workers(), "worker"));
}

}  // namespace

void FillScaling(std::vector<Cell>& cells) {
  const SeriesNames names(cells);
  std::map<std::pair<std::string, Point>, const Cell*> smallest;
  for (Cell& cell : cells) {
    if (IsOracle(cell.strategy()) || !HasRate(cell)) continue;
    const Cell* own =
        smallest.emplace(std::make_pair(names.Of(cell), PointOf(cell)), &cell).first->second;
    const Cell* single = SingleProcess(cell, cells);
    const Cell& baseline = single != nullptr ? *single : *own;
    // The oracle plays all its ranks in one process.
    const int processes = IsOracle(baseline.strategy()) ? 1 : baseline.workers();
    cell.set_baseline(Text(baseline, names.Of(baseline)));
    cell.set_baseline_workers(processes);
    cell.set_speed_up(cell.samples_per_s().median() / baseline.samples_per_s().median());
    cell.set_efficiency(cell.speed_up() * processes / cell.workers());
  }
}

}  // namespace ringside
