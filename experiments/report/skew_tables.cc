#include "experiments/report/skew_tables.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
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

std::string CellName(const Cell& cell, const CellRows& rows) {
  const std::string point = PointText(cell.point());
  return absl::StrCat(rows.names().Of(cell), " with ", Counted(cell.workers(), "worker"),
                      point.empty() ? "" : absl::StrCat(" (", point, ")"));
}

// What is known of a rank that is chronically slow at one number of workers, over all cells.
struct ChronicRank {
  int cells = 0;
  double least_s = 0;  // behind the others, of the cells
  double most_s = 0;
  std::string worst;  // cell
};

using ChronicKey = std::pair<int, int>;  // workers, rank

void AddChronic(const Cell& cell, const CellRows& rows, const Skew& skew,
                std::map<ChronicKey, ChronicRank>* chronic) {
  for (const RankSkew& rank : skew.ranks) {
    if (!rank.chronic) continue;
    ChronicRank& known = (*chronic)[{cell.workers(), rank.rank}];
    known.least_s = known.cells == 0 ? rank.behind_s : std::min(known.least_s, rank.behind_s);
    if (known.cells == 0 || rank.behind_s > known.most_s) {
      known.most_s = rank.behind_s;
      known.worst = CellName(cell, rows);
    }
    ++known.cells;
  }
}

std::string ChronicText(const ChronicKey& key, const ChronicRank& rank, int cells) {
  const std::string least = Seconds(rank.least_s);
  const std::string most = Seconds(rank.most_s);
  return absl::StrCat(
      "With ", Counted(key.first, "worker"), ", rank ", key.second, " is chronically slow",
      cells > 1 ? absl::StrCat(" in ", rank.cells, " of ", cells, " cells") : "",
      ": its own work takes ", least == most ? most : absl::StrCat(least, " to ", most),
      " longer than that of the others", cells > 1 ? absl::StrCat(", most in ", rank.worst) : "",
      ".");
}

// The longest of all steps in which a rank that is not chronically slow took far longer.
struct WorstMoment {
  int64_t count = 0;
  int64_t steps = 0;  // of all cells
  SlowMoment moment;
  std::string where;  // cell
};

void AddMoments(const Cell& cell, const CellRows& rows, const Skew& skew, WorstMoment* worst) {
  worst->steps += skew.steps;
  worst->count += static_cast<int64_t>(skew.once.size());
  if (skew.once.empty()) return;
  const SlowMoment& moment = skew.once.front();
  if (!worst->where.empty() &&
      moment.own_s - moment.others_s <= worst->moment.own_s - worst->moment.others_s)
    return;
  worst->moment = moment;
  worst->where = CellName(cell, rows);
}

std::string MomentText(const WorstMoment& worst) {
  return absl::StrCat("Slow once: ", Counted(worst.count, "time"), " in ", WholeNumber(worst.steps),
                      " steps a rank that is not chronically slow took more than twice as long as "
                      "the others. The worst was rank ",
                      worst.moment.rank, " in step ", worst.moment.step, " of trial ",
                      worst.moment.trial, ", ", worst.where, ": ", Seconds(worst.moment.own_s),
                      ", the others ", Seconds(worst.moment.others_s), ".");
}

// What makes the largest part of the waiting visible: the ranks' mean own work, least to most.
double MeanSpread(const Skew& skew) {
  double least = skew.ranks.front().own_s;
  double most = least;
  for (const RankSkew& rank : skew.ranks) {
    least = std::min(least, rank.own_s);
    most = std::max(most, rank.own_s);
  }
  return most - least;
}

struct DrawnCell {
  const Cell* cell;
  Skew skew;
};

// Cells at the largest number of workers, those with most skew first where there are too many.
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
          return MeanSpread(a.skew) < MeanSpread(b.skew);
        }));
  }
  return chosen;
}

}  // namespace

Table SkewTable(const ComparisonResult& comparison) {
  const CellRows rows(comparison);
  Table table;
  table.columns = rows.Columns();
  for (const char* title :
       {"First to last, median", "p99", "Own work, least", "most", "Waiting, least", "most"})
    table.columns.push_back({title, true});
  table.columns.push_back({"Chronically slow"});
  table.columns.push_back({"Slow once", true});
  for (const Cell& cell : rows.cells()) {
    const Skew skew = SkewOf(rows.RunsOf(cell));
    if (skew.ranks.empty()) continue;
    RankSkew least = skew.ranks.front();
    RankSkew most = least;
    std::vector<std::string> chronic;
    for (const RankSkew& rank : skew.ranks) {
      least.own_s = std::min(least.own_s, rank.own_s);
      least.wait_s = std::min(least.wait_s, rank.wait_s);
      most.own_s = std::max(most.own_s, rank.own_s);
      most.wait_s = std::max(most.wait_s, rank.wait_s);
      if (rank.chronic) chronic.push_back(absl::StrCat(rank.rank));
    }
    std::vector<Field> row = rows.Fields(cell);
    for (const double seconds : {skew.median_spread_s, skew.p99_spread_s, least.own_s, most.own_s,
                                 least.wait_s, most.wait_s})
      row.push_back({Seconds(seconds)});
    row.push_back(chronic.empty() ? Field{"no rank"}
                                  : Field{absl::StrCat("rank ", absl::StrJoin(chronic, ", ")),
                                          Field::Kind::kFail});
    row.push_back({WholeNumber(static_cast<int64_t>(skew.once.size()))});
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<std::string> SlowRankSentences(const ComparisonResult& comparison) {
  const CellRows rows(comparison);
  std::map<ChronicKey, ChronicRank> chronic;
  std::map<int, int> cells;  // by number of workers
  WorstMoment worst;
  for (const Cell& cell : rows.cells()) {
    const Skew skew = SkewOf(rows.RunsOf(cell));
    if (skew.ranks.empty()) continue;
    ++cells[cell.workers()];
    AddChronic(cell, rows, skew, &chronic);
    AddMoments(cell, rows, skew, &worst);
  }
  std::vector<std::string> sentences;
  for (const auto& [key, rank] : chronic)
    sentences.push_back(ChronicText(key, rank, cells[key.first]));
  if (chronic.empty() && !cells.empty()) sentences.push_back("No rank is chronically slow.");
  if (worst.count > 0) sentences.push_back(MomentText(worst));
  return sentences;
}

Figure SkewFigure(const ComparisonResult& comparison) {
  const CellRows rows(comparison);
  CsvTable csv(
      {"series", "workers", "point", "rank", "own_work_s", "wait_s", "slow_steps", "steps"});
  std::vector<Bar> bars;
  for (const DrawnCell& drawn : Chosen(rows)) {
    for (const RankSkew& rank : drawn.skew.ranks) {
      csv.AddRow({rows.names().Of(*drawn.cell), absl::StrCat(drawn.cell->workers()),
                  PointText(drawn.cell->point()), absl::StrCat(rank.rank), ExactNumber(rank.own_s),
                  ExactNumber(rank.wait_s), absl::StrCat(rank.slow_steps),
                  absl::StrCat(rank.steps)});
      bars.push_back({CellName(*drawn.cell, rows),
                      absl::StrCat("rank ", rank.rank),
                      {{kOwnWorkColour, 0, rank.own_s * 1e3, false},
                       {kWaitColour, rank.own_s * 1e3, (rank.own_s + rank.wait_s) * 1e3, false}}});
    }
  }
  Figure figure;
  figure.name = "skew";
  figure.title = "Own work and waiting of each rank";
  figure.caption =
      "Mean over counted steps. The rank with the longest own work and the shortest wait is the "
      "one "
      "that the others wait for.";
  figure.csv = csv.Text();
  DrawBars(bars, {{"own work", kOwnWorkColour}, {"waiting and communication", kWaitColour}},
           "milliseconds", &figure);
  return figure;
}

}  // namespace ringside
