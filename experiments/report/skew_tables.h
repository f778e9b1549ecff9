// The skew of a comparison as tables. Pure.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_SKEW_TABLES_H_
#define RINGSIDE_EXPERIMENTS_REPORT_SKEW_TABLES_H_

#include "experiments/report/table.h"
#include "results.pb.h"

namespace ringside {

// A row for each cell with several worker processes.
Table SkewTable(const ComparisonResult& comparison);

// The trials in which a rank was slow that is not chronically so: one row for each, those that cost
// most, at most kSlowSpells. Empty where there are none.
constexpr int kSlowSpells = 12;
Table SlowSpellTable(const ComparisonResult& comparison);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_SKEW_TABLES_H_
