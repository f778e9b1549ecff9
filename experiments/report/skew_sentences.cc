#include "experiments/report/skew_sentences.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "experiments/report/cell_rows.h"
#include "experiments/report/number_text.h"
#include "experiments/report/skew.h"

namespace ringside {
namespace {

// What is known of a rank that is chronically slow at one number of workers, over all cells.
struct ChronicRank {
  int cells = 0;
  double least_s = 0;  // late by
  double most_s = 0;
  std::string worst;  // cell
  double own_s = 0;   // there
  double others_s = 0;
};

class Sentences {
 public:
  void Add(const Skew& skew, int workers, const std::string& cell) {
    ++cells_;
    if (!skew.recorded()) return;
    ++recorded_cells_;
    ++cells_with_[workers];
    steps_ += skew.steps;
    for (const RankSkew& rank : skew.ranks) {
      if (rank.chronic) AddChronic(rank, OthersOwnSeconds(skew, rank.rank), cell, workers);
    }
    for (const SlowSpell& spell : skew.spells) AddSpell(spell, cell);
    if (!skew.limited_by_clocks) return;
    ++limited_cells_;
    clock_error_s_ = std::max(clock_error_s_, skew.clock_error_s);
  }

  std::vector<std::string> Finish() const {
    std::vector<std::string> sentences;
    for (const auto& [key, rank] : chronic_)
      sentences.push_back(ChronicText(key.first, key.second, rank));
    if (chronic_.empty() && recorded_cells_ > 0)
      sentences.push_back("No rank is chronically slow.");
    if (slow_steps_ > 0) sentences.push_back(AtTimesText());
    if (limited_cells_ > 0) {
      sentences.push_back(absl::StrCat(
          Where(limited_cells_, recorded_cells_), "the clocks of two ranks may differ by up to ",
          Seconds(clock_error_s_), ", more than 5 % of a step: who is late by less is not named."));
    }
    if (recorded_cells_ < cells_) {
      sentences.push_back(absl::StrCat(
          Where(cells_ - recorded_cells_, cells_),
          "it is not recorded when ranks had their gradients ready, so that no rank is named."));
    }
    // Some begin with what is elsewhere a part of a sentence.
    for (std::string& sentence : sentences) sentence[0] = absl::ascii_toupper(sentence[0]);
    return sentences;
  }

 private:
  using Key = std::pair<int, int>;  // workers, rank

  static std::string Where(int cells, int of) {
    return cells == of ? "" : absl::StrCat("in ", cells, " of ", of, " cells ");
  }

  void AddChronic(const RankSkew& rank, double others_s, const std::string& cell, int workers) {
    ChronicRank& known = chronic_[{workers, rank.rank}];
    known.least_s = known.cells == 0 ? rank.slow_by_s : std::min(known.least_s, rank.slow_by_s);
    if (known.cells == 0 || rank.slow_by_s > known.most_s) {
      known.most_s = rank.slow_by_s;
      known.worst = cell;
      known.own_s = rank.own_s;
      known.others_s = others_s;
    }
    ++known.cells;
  }

  void AddSpell(const SlowSpell& spell, const std::string& cell) {
    slow_steps_ += static_cast<int64_t>(spell.rank.slow_steps.size());
    const SlowStep& slow = spell.rank.slowest_step();
    if (!worst_cell_.empty() && slow.late_s <= worst_.late_s) return;
    worst_ = slow;
    worst_rank_ = spell.rank.rank;
    worst_trial_ = spell.trial;
    worst_cell_ = cell;
  }

  std::string ChronicText(int workers, int number, const ChronicRank& rank) const {
    const int cells = cells_with_.at(workers);
    const std::string least = Seconds(rank.least_s);
    const std::string most = Seconds(rank.most_s);
    return absl::StrCat(
        "With ", Counted(workers, "worker"), ", rank ", number, " is chronically slow",
        cells > 1 ? absl::StrCat(" in ", rank.cells, " of ", cells, " cells") : "", ": by ",
        least == most ? most : absl::StrCat(least, " to ", most),
        cells > 1 ? absl::StrCat(least == most ? ", as in " : ", most in ", rank.worst, ", where")
                  : ";",
        " its own work takes ", Seconds(rank.own_s), ", that of the others ",
        Seconds(rank.others_s), ".");
  }

  std::string AtTimesText() const {
    return absl::StrCat("Slow at times: ", Counted(slow_steps_, "time"), " in ",
                        Counted(steps_, "step"),
                        " a rank was slow that is not chronically so. The worst was rank ",
                        worst_rank_, " in step ", worst_.step, " of trial ", worst_trial_, ", ",
                        worst_cell_, ": by ", Seconds(worst_.late_s), ".");
  }

  int cells_ = 0;
  int recorded_cells_ = 0;
  std::map<int, int> cells_with_;  // recorded, by number of workers
  int64_t steps_ = 0;
  std::map<Key, ChronicRank> chronic_;
  int64_t slow_steps_ = 0;  // of ranks that are not chronically slow
  SlowStep worst_;          // of those
  int worst_rank_ = 0;
  int64_t worst_trial_ = 0;
  std::string worst_cell_;
  int limited_cells_ = 0;
  double clock_error_s_ = 0;  // largest, of those cells
};

}  // namespace

std::vector<std::string> SlowRankSentences(const ComparisonResult& comparison) {
  const CellRows rows(comparison);
  Sentences sentences;
  for (const Cell& cell : rows.cells()) {
    const Skew skew = SkewOf(rows.RunsOf(cell));
    if (!skew.ranks.empty()) sentences.Add(skew, cell.workers(), rows.NameOf(cell));
  }
  return sentences.Finish();
}

}  // namespace ringside
