// The results as people and spreadsheets read them. Pure.
#ifndef RINGSIDE_WORKER_BENCH_PS_TABLES_H_
#define RINGSIDE_WORKER_BENCH_PS_TABLES_H_

#include <string>
#include <vector>

#include "ps_bench.pb.h"

namespace ringside {

// A heading and a line for each measurement, aligned.
std::string PsTableHeading();
std::string PsTableRows(const std::vector<PsMeasurement>& measurements);
// With a heading; empty without any.
std::string PsMemoryTable(const std::vector<PsShardMemory>& memory);
// With a heading; the columns of the table, unrounded.
std::string PsCsv(const std::vector<PsMeasurement>& measurements);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_BENCH_PS_TABLES_H_
