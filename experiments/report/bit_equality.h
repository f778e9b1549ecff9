// Which runs must end with the same bits, and which need not. Pure functions.
//
// A parameter server, a ring and one process that plays all ranks add in one order, so they end
// with the same parameters (the law of summation in common/reduction.h). Two kinds of runs are
// exempt, between strategies only, never between the ranks of a run or between runs of one
// strategy: a parameter server with a 16-bit wire dtype, because a ring rounds partial sums at
// every hop and a server does not; and the libraries of others, which add in an order of their own.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_BIT_EQUALITY_H_
#define RINGSIDE_EXPERIMENTS_REPORT_BIT_EQUALITY_H_

#include <string>

#include "results.pb.h"

namespace ringside {

// Why a run may end with other bits than other strategies: "nccl adds in an order of its own".
// Empty where it must not.
std::string BitExemption(const RunResult& run);

// Runs with one key must end with the same bits.
std::string BitEqualityKey(const RunResult& run);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_BIT_EQUALITY_H_
