// All ranks of an all-reduce in one process: threads play the ranks, over real connections and
// real shared memory.
#ifndef RINGSIDE_TESTS_TESTING_RING_CLUSTER_H_
#define RINGSIDE_TESTS_TESTING_RING_CLUSTER_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "allreduce/reducer_factory.h"
#include "common/network/bind_address.h"

namespace ringside {

// Loopback, any port.
BindAddress LoopbackBind();

// Runs body(0) to body(ranks - 1) at once, a thread for each, and returns what they return.
std::vector<absl::Status> RunRanks(int ranks, const std::function<absl::Status(int)>& body);

// Opens ports and connects all ranks, over TCP unless `adjust` says otherwise, which may change any
// of a rank's settings, e.g. give it a wrong token. One entry for each rank: what was made, or why
// nothing was.
std::vector<absl::StatusOr<MadeReducer>> ConnectRanks(
    int ranks, const std::function<void(int, ReducerConfig*)>& adjust = nullptr);

// As above, for ranks that are all well: their reducers, or the first error.
absl::StatusOr<std::vector<std::unique_ptr<AllReducer>>> MakeReducers(
    int ranks, const std::function<void(int, ReducerConfig*)>& adjust = nullptr);

// A ring over TCP with such segments.
absl::StatusOr<std::vector<std::unique_ptr<AllReducer>>> MakeRingReducers(
    int ranks, int64_t segment_bytes, absl::Duration step_timeout = absl::Seconds(30));

}  // namespace ringside

#endif  // RINGSIDE_TESTS_TESTING_RING_CLUSTER_H_
