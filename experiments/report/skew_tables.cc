#include "experiments/report/skew_tables.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "experiments/report/cell_rows.h"
#include "experiments/report/number_text.h"
#include "experiments/report/skew.h"

namespace ringside {
namespace {

constexpr size_t kNamedSteps = 6;

// First bucket, last bucket, p90 of that.
std::vector<Field> SpreadFields(const Skew& skew) {
  if (!skew.recorded()) return {NoValue(), NoValue(), NoValue()};
  Field first = NoValue();
  Field last = {Seconds(skew.spread_s)};
  if (!skew.in_step) {
    last.note = "of own work";
  } else {
    first = {Seconds(skew.first_bucket_spread_s)};
    if (skew.clock_error_s > 0) {
      first.note = absl::StrCat("± ", Seconds(skew.clock_error_s));
      last.note = first.note;
    }
  }
  return {first, last, {Seconds(skew.spread_p90_s)}};
}

// Own work and waiting: least and most.
std::vector<Field> WorkFields(const Skew& skew) {
  RankSkew least = skew.ranks.front();
  RankSkew most = least;
  for (const RankSkew& rank : skew.ranks) {
    least.own_s = std::min(least.own_s, rank.own_s);
    least.wait_s = std::min(least.wait_s, rank.wait_s);
    most.own_s = std::max(most.own_s, rank.own_s);
    most.wait_s = std::max(most.wait_s, rank.wait_s);
  }
  return {{Seconds(least.own_s)},
          {Seconds(most.own_s)},
          {Seconds(least.wait_s)},
          {Seconds(most.wait_s)}};
}

Field ChronicField(const Skew& skew) {
  if (!skew.recorded()) return {"not recorded"};
  std::vector<std::string> chronic;
  for (const RankSkew& rank : skew.ranks) {
    if (!rank.chronic) continue;
    const bool always = rank.chronic_trials == skew.trials;
    chronic.push_back(
        absl::StrCat(rank.rank, always ? ""
                                       : absl::StrCat(" (", rank.chronic_trials, " of ",
                                                      Counted(skew.trials, "trial"), ")")));
  }
  if (chronic.empty()) return {"no rank"};
  return {absl::StrCat("rank ", absl::StrJoin(chronic, ", ")), Field::Kind::kFail};
}

// In which ranks that are not chronically slow were.
Field AtTimesField(const Skew& skew) {
  if (!skew.recorded()) return NoValue();
  int64_t count = 0;
  for (const SlowSpell& spell : skew.spells)
    count += static_cast<int64_t>(spell.rank.slow_steps.size());
  return {WholeNumber(count)};
}

std::string HowOften(const RankArrivals& rank) {
  switch (rank.slowness()) {
    case Slowness::kChronic:
      return "chronic in this trial";
    case Slowness::kAtTimes:
      return "at times";
    case Slowness::kOnce:
      return "once";
    case Slowness::kNever:
      break;
  }
  return "never";
}

std::string StepsText(const std::vector<SlowStep>& steps) {
  std::vector<int64_t> named;
  for (const SlowStep& slow : steps) {
    if (named.size() < kNamedSteps) named.push_back(slow.step);
  }
  return absl::StrCat(absl::StrJoin(named, ", "), named.size() < steps.size() ? ", …" : "");
}

struct CellSpell {
  const Cell* cell = nullptr;
  SlowSpell spell;
};

std::vector<Field> SpellFields(const SlowSpell& spell) {
  const RankArrivals& rank = spell.rank;
  const SlowStep& worst = rank.slowest_step();
  return {{absl::StrCat(spell.trial)},
          {absl::StrCat("rank ", rank.rank)},
          {HowOften(rank)},
          {absl::StrCat(rank.slow_steps.size(), " of ", rank.steps)},
          {StepsText(rank.slow_steps)},
          {Seconds(rank.slow_by_s)},
          {Seconds(worst.late_s), Field::Kind::kText, absl::StrCat("step ", worst.step)}};
}

}  // namespace

Table SkewTable(const ComparisonResult& comparison) {
  const CellRows rows(comparison);
  Table table;
  table.columns = rows.Columns();
  for (const char* title : {"First to last, first bucket", "last bucket", "its p90",
                            "Own work, least", "most", "Waiting, least", "most"})
    table.columns.push_back({title, true});
  table.columns.push_back({"Chronically slow"});
  table.columns.push_back({"Slow at times", true});
  for (const Cell& cell : rows.cells()) {
    const Skew skew = SkewOf(rows.RunsOf(cell));
    if (skew.ranks.empty()) continue;
    std::vector<Field> row = rows.Fields(cell);
    for (const std::vector<Field>& fields :
         {SpreadFields(skew), WorkFields(skew),
          std::vector<Field>{ChronicField(skew), AtTimesField(skew)}})
      row.insert(row.end(), fields.begin(), fields.end());
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table SlowSpellTable(const ComparisonResult& comparison) {
  const CellRows rows(comparison);
  std::vector<CellSpell> spells;
  for (const Cell& cell : rows.cells()) {
    const Skew skew = SkewOf(rows.RunsOf(cell));
    for (const SlowSpell& spell : skew.spells) spells.push_back({&cell, spell});
  }
  std::stable_sort(spells.begin(), spells.end(), [](const CellSpell& a, const CellSpell& b) {
    return a.spell.rank.slow_total_s > b.spell.rank.slow_total_s;
  });
  if (spells.size() > kSlowSpells) spells.resize(kSlowSpells);
  Table table;
  table.columns = rows.Columns();
  for (const Column& column : std::vector<Column>{{"Trial", true},
                                                  {"Slow rank"},
                                                  {"How often"},
                                                  {"Slow steps", true},
                                                  {"Which"},
                                                  {"Late by, median", true},
                                                  {"most", true}})
    table.columns.push_back(column);
  for (const CellSpell& one : spells) {
    std::vector<Field> row = rows.Fields(*one.cell);
    const std::vector<Field> fields = SpellFields(one.spell);
    row.insert(row.end(), fields.begin(), fields.end());
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace ringside
