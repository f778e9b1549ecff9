// The tables of a report that look into the shards of a parameter server. Pure functions;
// docs/metrics.md defines every column.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_SHARD_TABLES_H_
#define RINGSIDE_EXPERIMENTS_REPORT_SHARD_TABLES_H_

#include "experiments/report/table.h"
#include "results.pb.h"

namespace ringside {

// Per cell with shards: where the time of a shard goes, and how evenly parameters are shared.
// Empty where no run has measured it.
Table ShardTable(const ComparisonResult& comparison);

// Per cell of a mode that has staleness: by how many updates pushes came late.
Table StalenessTable(const ComparisonResult& comparison);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_SHARD_TABLES_H_
