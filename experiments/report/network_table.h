// The emulated networks of a comparison: what was asked for, and what the probes before each run
// have measured. Pure.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_NETWORK_TABLE_H_
#define RINGSIDE_EXPERIMENTS_REPORT_NETWORK_TABLE_H_

#include "experiments/report/table.h"
#include "results.pb.h"

namespace ringside {

// A row for each network that was asked for, over all runs on it; no rows without any.
Table NetworkTable(const ComparisonResult& comparison);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_NETWORK_TABLE_H_
