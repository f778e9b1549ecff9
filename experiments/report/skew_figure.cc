#include "experiments/report/skew_figure.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "experiments/report/bar_figure.h"
#include "experiments/report/cell_rows.h"
#include "experiments/report/csv_table.h"
#include "experiments/report/number_text.h"
#include "experiments/report/setting_text.h"
#include "experiments/report/skew.h"

namespace ringside {
namespace {

constexpr char kOwnWorkColour[] = "#25807a";
constexpr char kWaitColour[] = "#cf3f6c";
constexpr size_t kMostBars = 24;  // drawn

// How much longer the bar of own work is that is longest than the one that is shortest.
double OwnWorkSpread(const Skew& skew) {
  const auto ends =
      std::minmax_element(skew.ranks.begin(), skew.ranks.end(),
                          [](const RankSkew& a, const RankSkew& b) { return a.own_s < b.own_s; });
  return ends.second->own_s - ends.first->own_s;
}

struct DrawnCell {
  const Cell* cell;
  Skew skew;
};

// Cells at the largest number of workers, those that differ most where there are too many.
std::vector<DrawnCell> Chosen(const CellRows& rows) {
  std::vector<DrawnCell> chosen;
  for (const Cell& cell : rows.cells()) {
    Skew skew = SkewOf(rows.RunsOf(cell));
    if (skew.ranks.empty()) continue;
    if (!chosen.empty() && chosen.front().cell->workers() > cell.workers()) continue;
    if (!chosen.empty() && chosen.front().cell->workers() < cell.workers()) chosen.clear();
    chosen.push_back({&cell, std::move(skew)});
  }
  const auto bars = [&chosen] {
    size_t count = 0;
    for (const DrawnCell& drawn : chosen) count += drawn.skew.ranks.size();
    return count;
  };
  while (chosen.size() > 1 && bars() > kMostBars) {
    chosen.erase(
        std::min_element(chosen.begin(), chosen.end(), [](const DrawnCell& a, const DrawnCell& b) {
          return OwnWorkSpread(a.skew) < OwnWorkSpread(b.skew);
        }));
  }
  return chosen;
}

void AddRow(const std::string& series, const Cell& cell, const Skew& skew, const RankSkew& rank,
            CsvTable* csv) {
  // Empty where it is not recorded.
  const auto count = [&skew](int64_t value) {
    return skew.recorded() ? absl::StrCat(value) : std::string();
  };
  csv->AddRow({series, absl::StrCat(cell.workers()), PointText(cell.point()),
               absl::StrCat(rank.rank), ExactNumber(rank.own_s), ExactNumber(rank.wait_s),
               count(rank.slow_steps), count(rank.steps), count(rank.chronic_trials),
               count(skew.trials)});
}

}  // namespace

Figure SkewFigure(const ComparisonResult& comparison) {
  const CellRows rows(comparison);
  CsvTable csv({"series", "workers", "point", "rank", "own_work_s", "wait_s", "slow_steps", "steps",
                "chronic_trials", "trials"});
  std::vector<Bar> bars;
  for (const DrawnCell& drawn : Chosen(rows)) {
    for (const RankSkew& rank : drawn.skew.ranks) {
      AddRow(rows.names().Of(*drawn.cell), *drawn.cell, drawn.skew, rank, &csv);
      bars.push_back({rows.NameOf(*drawn.cell),
                      absl::StrCat("rank ", rank.rank, rank.chronic ? ", slow" : ""),
                      {{kOwnWorkColour, 0, rank.own_s * 1e3, false},
                       {kWaitColour, rank.own_s * 1e3, (rank.own_s + rank.wait_s) * 1e3, false}}});
    }
  }
  Figure figure;
  figure.name = "skew";
  figure.title = "Own work and waiting of each rank";
  figure.caption =
      "Mean over counted steps. Waiting holds the time that gradients travel, too. Ranks that are "
      "chronically slow say so.";
  figure.csv = csv.Text();
  DrawBars(bars, {{"own work", kOwnWorkColour}, {"waiting and communication", kWaitColour}},
           "milliseconds", &figure);
  return figure;
}

}  // namespace ringside
