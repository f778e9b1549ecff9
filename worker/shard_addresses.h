// Where a worker finds the shards of a parameter server. Pure.
#ifndef RINGSIDE_WORKER_SHARD_ADDRESSES_H_
#define RINGSIDE_WORKER_SHARD_ADDRESSES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "coordinator.pb.h"
#include "worker/synchronizers/shard_link.h"

namespace ringside {

// By number, as worker `rank` sees them. INTERNAL: a shard has published no endpoint that can be
// read.
absl::StatusOr<std::vector<ShardAddress>> ShardAddresses(const Membership& membership, int rank);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_SHARD_ADDRESSES_H_
