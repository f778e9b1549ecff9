// The lines of a comparison: a series is what one reads across the numbers of workers, drawn in one
// colour everywhere.
//
// A series is a strategy, a parameter server in another mode being another one. Where a strategy
// was run with several numbers of shards, over several transports or in several placements, at one
// number of workers and one point of a sweep, each of them is a series of its own.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_SERIES_H_
#define RINGSIDE_EXPERIMENTS_REPORT_SERIES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "results.pb.h"

namespace ringside {

// `local` proves the numbers of the others; one process playing all ranks is not a contender.
bool IsOracle(absl::string_view strategy);
// One process plays all ranks.
bool IsOneProcess(absl::string_view strategy);

// In any mode: "ps", "ps async", "ps ssp 3" (StrategyName in common/ps_policy.h).
bool IsParameterServer(absl::string_view strategy);

// Libraries of others, which add in an order of their own.
bool IsForeign(absl::string_view strategy);

// Orders strategies as the report shows them: ps in all modes, ring, direct, others by name,
// oracles last.
bool StrategyLess(absl::string_view a, absl::string_view b);

// Names of series for the cells of one comparison.
class SeriesNames {
 public:
  explicit SeriesNames(const std::vector<Cell>& cells);

  // "ring", "ps async", "ps (2 shards)", "ps over shm", "ps colocated", or "ps over shm (2
  // shards)".
  std::string Of(const Cell& cell) const;
  // Every series once, in the order of the report.
  const std::vector<std::string>& all() const { return all_; }
  // "#rrggbb", legible on white and on near-black, told apart by the colour-blind.
  std::string Colour(const std::string& series) const;

 private:
  std::vector<std::string> split_by_shards_;     // strategies with several numbers of shards
  std::vector<std::string> split_by_transport_;  // and with several transports
  std::vector<std::string> split_by_placement_;  // and with several placements
  std::vector<std::string> all_;
  std::vector<std::string> colours_;  // of all_
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_SERIES_H_
