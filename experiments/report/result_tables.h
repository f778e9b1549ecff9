// The tables of a report. Pure functions; docs/metrics.md defines every column.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_RESULT_TABLES_H_
#define RINGSIDE_EXPERIMENTS_REPORT_RESULT_TABLES_H_

#include "experiments/report/table.h"
#include "results.pb.h"

namespace ringside {

// Threads that compute over the cores that they have; loud where there are too few.
Field CoresField(const Cell& cell);
// How far the trials vary; loud above kNoisyCv.
Field SpreadField(const Cell& cell);

Table GateTable(const ComparisonResult& comparison);
// One row per number of workers, global batch, settings that decide bits, and distinct hash; says
// which must be equal and are not, and which need not be (bit_equality.h).
Table EquivalenceTable(const ComparisonResult& comparison);
// Mean step by part, and the communication that goes on behind them.
Table BreakdownTable(const ComparisonResult& comparison);
// Accuracy on the test set.
Table EvaluationTable(const ComparisonResult& comparison);
// Every setting of the job; those that differ between runs list their values.
Table SettingsTable(const ComparisonResult& comparison);
Table ProvenanceTable(const ComparisonResult& comparison);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_RESULT_TABLES_H_
