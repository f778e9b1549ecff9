// Which runs must end with the same bits, and which need not. Pure functions.
//
// A parameter server in sync mode, wherever the optimizer runs, a ring and one process that plays
// all ranks add in one order, so they end with the same parameters (the law of summation in
// common/reduction.h). Two kinds of runs are exempt between strategies, but not between runs of one
// strategy: a parameter server with a 16-bit wire dtype, because a ring rounds partial sums at
// every hop and a server does not; and the libraries of others, which add in an order of their own.
// The other modes of a parameter server depend on who comes first: such a run is compared with no
// other. The ranks of a run are never exempt. Runs whose settings decide other bits (seed, model,
// optimizer, buckets, wire dtype, ...) are other trainings: they are not compared.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_BIT_EQUALITY_H_
#define RINGSIDE_EXPERIMENTS_REPORT_BIT_EQUALITY_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

#include "results.pb.h"

namespace ringside {

// Why a run may end with other bits than other strategies: "nccl adds in an order of its own".
// Empty where it must not.
std::string BitExemption(const RunResult& run);

// The settings of the run that decide what its bits are, "name=value" in lines. Settings that are
// not known here do.
std::string BitClass(const RunResult& run);
// The same for the bits that it starts from.
std::string InitialBitClass(const RunResult& run);
bool DecidesBits(absl::string_view setting);

// Runs with one key must end with the same bits. `index` is the run's place in the comparison.
std::string BitEqualityKey(const RunResult& run, size_t index);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_BIT_EQUALITY_H_
