// The table of speed and scaling: what each cell was, and how fast. Pure.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_SCALING_TABLE_H_
#define RINGSIDE_EXPERIMENTS_REPORT_SCALING_TABLE_H_

#include "experiments/report/table.h"
#include "results.pb.h"

namespace ringside {

// Shards and placement have columns where any cell has servers.
Table ScalingTable(const ComparisonResult& comparison);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_SCALING_TABLE_H_
