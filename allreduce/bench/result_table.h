// The results as people and spreadsheets read them. Pure.
#ifndef RINGSIDE_ALLREDUCE_BENCH_RESULT_TABLE_H_
#define RINGSIDE_ALLREDUCE_BENCH_RESULT_TABLE_H_

#include <string>
#include <vector>

#include "allreduce_bench.pb.h"

namespace ringside {

// The columns of nccl-tests and ours, as a heading and a line for each measurement, aligned.
std::string TableHeading();
std::string TableRows(const std::vector<AllReduceMeasurement>& measurements);

// What was in force for each contender: a line for each set of facts, with the world sizes that it
// held for.
std::string TableFacts(const std::vector<AllReduceMeasurement>& measurements);

// With a heading; the columns of the table, unrounded.
std::string Csv(const std::vector<AllReduceMeasurement>& measurements);

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_BENCH_RESULT_TABLE_H_
