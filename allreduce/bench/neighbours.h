// Plain sockets to both neighbours of a ring: what the ceilings are measured over.
#ifndef RINGSIDE_ALLREDUCE_BENCH_NEIGHBOURS_H_
#define RINGSIDE_ALLREDUCE_BENCH_NEIGHBOURS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "allreduce/baselines/address_exchange.h"
#include "common/network/socket.h"

namespace ringside {

struct Neighbours {
  std::unique_ptr<Socket> left;
  std::unique_ptr<Socket> right;
};

// `transport`: "tcp" (127.0.0.1, with `congestion_control` unless that is empty) or "uds". All
// ranks call it at once. UNAVAILABLE or DEADLINE_EXCEEDED: a neighbour cannot be reached.
absl::StatusOr<Neighbours> ConnectNeighbours(absl::string_view transport, int rank, int world_size,
                                             const std::string& congestion_control,
                                             const AddressExchange& exchange, absl::Time deadline);

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_BENCH_NEIGHBOURS_H_
