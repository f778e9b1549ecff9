// The lines of a comparison: a series is what one reads across the numbers of workers, drawn in one
// colour everywhere.
//
// A series is a strategy; where a strategy was run with several numbers of shards at one number of
// workers, each of them is a series of its own.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_SERIES_H_
#define RINGSIDE_EXPERIMENTS_REPORT_SERIES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "results.pb.h"

namespace ringside {

// `local` proves the numbers of the others; one process playing all ranks is not a contender.
bool IsOracle(absl::string_view strategy);

// Libraries of others, which add in an order of their own.
bool IsForeign(absl::string_view strategy);

// Orders strategies as the report shows them: ps, ring, direct, others by name, oracles last.
bool StrategyLess(absl::string_view a, absl::string_view b);

// Names of series for the cells of one comparison.
class SeriesNames {
 public:
  explicit SeriesNames(const std::vector<Cell>& cells);

  // "ring", "ps", or "ps (2 shards)".
  std::string Of(const Cell& cell) const;
  // Every series once, in the order of the report.
  const std::vector<std::string>& all() const { return all_; }
  // "#rrggbb", legible on white and on near-black, told apart by the colour-blind.
  std::string Colour(const std::string& series) const;

 private:
  std::vector<std::string> split_strategies_;  // those with several numbers of shards
  std::vector<std::string> all_;
  std::vector<std::string> colours_;  // of all_
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_SERIES_H_
