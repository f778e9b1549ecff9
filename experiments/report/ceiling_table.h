// What the machine can do at most, and how near each cell came to it. Pure.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_CEILING_TABLE_H_
#define RINGSIDE_EXPERIMENTS_REPORT_CEILING_TABLE_H_

#include <string>
#include <vector>

#include "experiments/report/table.h"
#include "results.pb.h"

namespace ringside {

// A row for each cell whose ceiling is known, with the run and process that came nearest to it.
Table CeilingTable(const ComparisonResult& comparison);

// A sentence for each machine that was probed.
std::vector<std::string> CeilingSentences(const ComparisonResult& comparison);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_CEILING_TABLE_H_
