// The skew of a comparison as table, sentences and figure. Pure.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_SKEW_TABLES_H_
#define RINGSIDE_EXPERIMENTS_REPORT_SKEW_TABLES_H_

#include <string>
#include <vector>

#include "experiments/report/figure.h"
#include "experiments/report/table.h"
#include "results.pb.h"

namespace ringside {

// A row for each cell with several worker processes.
Table SkewTable(const ComparisonResult& comparison);
// Which ranks are chronically slow, a sentence for each rank and number of workers, and how often
// others were once. Empty where no cell has several worker processes.
std::vector<std::string> SlowRankSentences(const ComparisonResult& comparison);
// Own work and waiting of each rank, at the largest number of workers. No bars where no cell has
// several worker processes.
Figure SkewFigure(const ComparisonResult& comparison);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_SKEW_TABLES_H_
