// What all workers of a run together must have sent, from nothing but the number of parameters. A
// second opinion beside the expectation that every process works out for itself from its plan of
// buckets.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_TRAFFIC_FORMULA_H_
#define RINGSIDE_EXPERIMENTS_REPORT_TRAFFIC_FORMULA_H_

#include <cstdint>
#include <string>

#include "absl/types/optional.h"
#include "results.pb.h"

namespace ringside {

// Payload bytes sent by all workers over all steps, warm-up included, for P parameters of b bytes
// on the wire, N workers and T steps:
//   ring   2 (N - 1) bP T   every chunk travels N - 1 hops in each of the two phases
//   ps     N bP T           every worker sends its whole gradient
//   local  0
// They receive as much. Nothing for other strategies: what a direct schedule moves depends on the
// length of each bucket, so that only its processes' own expectation stands. Nor for backup mode,
// whose late workers leave steps out and pull again.
absl::optional<int64_t> WorkersPayloadBytes(const RunResult& run);

// Bytes of one element as it travels: 2 with --wire_dtype=bf16 or fp16, else 4.
int64_t WireBytesPerElement(const RunResult& run);

// The first number in which the two differ: "payload bytes sent: counted 12, formula 16". Empty
// when they are equal.
std::string FirstDifference(const Traffic& counted, const Traffic& formula);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_TRAFFIC_FORMULA_H_
