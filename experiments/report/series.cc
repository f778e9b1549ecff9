#include "experiments/report/series.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "experiments/report/number_text.h"
#include "experiments/report/point.h"

namespace ringside {
namespace {

constexpr char kPsColour[] = "#2b7bd4";
constexpr char kRingColour[] = "#d9620b";
constexpr char kDirectColour[] = "#0f9b7c";
constexpr char kOracleColour[] = "#7d8590";
// Strategies that come later, in order of appearance.
constexpr std::array<const char*, 4> kMoreColours = {"#a35bd6", "#b8860b", "#d6478f", "#4f8f2f"};

int OrderOf(absl::string_view strategy) {
  if (IsParameterServer(strategy)) return 0;
  if (strategy == "ring") return 1;
  if (strategy == "direct") return 2;
  return IsOracle(strategy) ? 4 : 3;
}

bool Contains(const std::vector<std::string>& values, const std::string& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// The strategies, first of the keys, for which any key has several values.
template <typename Values>
std::vector<std::string> WithSeveral(const Values& values_by_key) {
  std::vector<std::string> strategies;
  for (const auto& [key, values] : values_by_key) {
    const std::string& strategy = std::get<0>(key);
    if (values.size() > 1 && !Contains(strategies, strategy)) strategies.push_back(strategy);
  }
  return strategies;
}

}  // namespace

bool IsOracle(absl::string_view strategy) { return strategy == "local"; }

bool IsOneProcess(absl::string_view strategy) {
  return IsOracle(strategy) || strategy == "data_parallel";
}

bool IsParameterServer(absl::string_view strategy) {
  return strategy == "ps" || absl::StartsWith(strategy, "ps ");
}

bool IsForeign(absl::string_view strategy) {
  return strategy == "nccl" || strategy == "gloo" || strategy == "mpi";
}

bool StrategyLess(absl::string_view a, absl::string_view b) {
  return std::make_tuple(OrderOf(a), a) < std::make_tuple(OrderOf(b), b);
}

SeriesNames::SeriesNames(const std::vector<Cell>& cells) {
  using Key = std::tuple<std::string, int, Point>;
  std::map<Key, std::set<int>> shards;
  std::map<Key, std::set<std::string>> transports;
  std::map<Key, std::set<std::string>> placements;
  for (const Cell& cell : cells) {
    const Key key(cell.strategy(), cell.workers(), PointOf(cell));
    shards[key].insert(cell.shards());
    transports[key].insert(cell.transport());
    placements[key].insert(cell.placement());
  }
  split_by_shards_ = WithSeveral(shards);
  split_by_transport_ = WithSeveral(transports);
  split_by_placement_ = WithSeveral(placements);
  std::vector<const Cell*> ordered;
  for (const Cell& cell : cells) ordered.push_back(&cell);
  std::stable_sort(ordered.begin(), ordered.end(), [](const Cell* a, const Cell* b) {
    if (a->strategy() != b->strategy()) return StrategyLess(a->strategy(), b->strategy());
    if (a->shards() != b->shards()) return a->shards() < b->shards();
    if (a->transport() != b->transport()) return a->transport() < b->transport();
    return a->placement() < b->placement();
  });
  size_t more = 0;
  for (const Cell* cell : ordered) {
    const std::string name = Of(*cell);
    if (Contains(all_, name)) continue;
    std::string colour;
    if (IsOracle(cell->strategy())) {
      colour = kOracleColour;
    } else if (name == "ring") {
      colour = kRingColour;
    } else if (name == "direct") {
      colour = kDirectColour;
    } else if (IsParameterServer(cell->strategy()) && !Contains(colours_, kPsColour)) {
      colour = kPsColour;
    } else {
      colour = kMoreColours[more++ % kMoreColours.size()];
    }
    all_.push_back(name);
    colours_.push_back(colour);
  }
}

std::string SeriesNames::Of(const Cell& cell) const {
  std::string name = cell.strategy();
  if (Contains(split_by_transport_, cell.strategy()))
    absl::StrAppend(&name, " over ", cell.transport());
  if (Contains(split_by_placement_, cell.strategy())) absl::StrAppend(&name, " ", cell.placement());
  if (Contains(split_by_shards_, cell.strategy()))
    absl::StrAppend(&name, " (", Counted(cell.shards(), "shard"), ")");
  return name;
}

std::string SeriesNames::Colour(const std::string& series) const {
  const auto found = std::find(all_.begin(), all_.end(), series);
  return found == all_.end() ? kOracleColour : colours_[static_cast<size_t>(found - all_.begin())];
}

}  // namespace ringside
