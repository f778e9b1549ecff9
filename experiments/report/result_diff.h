// Whether something has become slower: two results against each other, cell by cell. Pure.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_RESULT_DIFF_H_
#define RINGSIDE_EXPERIMENTS_REPORT_RESULT_DIFF_H_

#include <string>
#include <vector>

#include "results.pb.h"

namespace ringside {

enum class Change {
  kFaster,
  kSlower,
  kWithinNoise,      // what difference there is may be chance
  kWithinTolerance,  // it may be none, and is not larger than what is tolerated
  kTooFewTrials,     // of either: fewer than two
  kOnlyInA,
  kOnlyInB,
};

std::string ChangeText(Change change);

// The cells of A and B that have one series, number of workers and point.
struct DiffRow {
  std::string series;
  int workers = 0;
  std::string point;  // as people read it; empty where nothing varies
  Interval a;         // median step, in seconds
  Interval b;
  Interval ratio;  // median step of B over that of A; unset where only one is there
  Change change = Change::kWithinNoise;
};

struct ResultDiff {
  std::vector<DiffRow> rows;
  std::vector<std::string> warnings;  // in what A and B differ besides, and why not to trust them
  bool regressed = false;             // any row is slower
  bool comparable = false;            // any cell is in both
};

// A cell is slower where, for the medians of its trials, a mean logarithm in B that exceeds that of
// A by more than ln(1 + tolerance) would be chance with a probability below 5 % for all cells
// together (mean_test.h), and the bootstrap interval of the ratio is above 1 + tolerance as well.
// Faster likewise, the other way round. So a diff of equal results is wrong about one time in
// twenty at most, however many cells it has.
ResultDiff DiffResults(const ComparisonResult& a, const ComparisonResult& b, double tolerance);

// A table and what goes with it, as lines of text.
std::string DiffText(const ResultDiff& diff, double tolerance);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_RESULT_DIFF_H_
