// The tables of a report that are about processes: what they put on the wire and what they used.
// Pure functions.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_PROCESS_TABLES_H_
#define RINGSIDE_EXPERIMENTS_REPORT_PROCESS_TABLES_H_

#include "experiments/report/table.h"
#include "results.pb.h"

namespace ringside {

// Per cell and role: payload and messages of one process and step, each counted over
// formula, and imbalance.
Table WireTable(const ComparisonResult& comparison);

// Per cell and role: processor seconds and memory.
Table ProcessTable(const ComparisonResult& comparison);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_PROCESS_TABLES_H_
