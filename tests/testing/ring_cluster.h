// A ring in one process: threads play the ranks, over real TCP connections on the loopback
// interface.
#ifndef RINGSIDE_TESTS_TESTING_RING_CLUSTER_H_
#define RINGSIDE_TESTS_TESTING_RING_CLUSTER_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "allreduce/ring_all_reducer.h"
#include "allreduce/tcp_ring_link.h"
#include "common/network/bind_address.h"

namespace ringside {

// Loopback, any port.
BindAddress LoopbackBind();

// Runs body(0) to body(ranks - 1) at once, a thread for each, and returns what they return.
std::vector<absl::Status> RunRanks(int ranks, const std::function<absl::Status(int)>& body);

// Opens listeners and connects all ranks. `adjust` may change a rank's configuration, e.g. give it
// a wrong token. One entry for each rank: its link, or why it has none.
std::vector<absl::StatusOr<std::unique_ptr<TcpRingLink>>> ConnectRing(
    int ranks, const std::function<void(int, TcpRingLink::Config*)>& adjust = nullptr);

// A reducer for each rank; the first error if that fails.
absl::StatusOr<std::vector<std::unique_ptr<AllReducer>>> MakeRingReducers(
    int ranks, int64_t segment_bytes, absl::Duration step_timeout = absl::Seconds(30));

}  // namespace ringside

#endif  // RINGSIDE_TESTS_TESTING_RING_CLUSTER_H_
