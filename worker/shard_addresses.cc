#include "worker/shard_addresses.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/network/host_identity.h"
#include "common/suspects.h"

namespace ringside {

absl::StatusOr<std::vector<ShardAddress>> ShardAddresses(const Membership& membership, int rank) {
  const HostIdentity& own = membership.workers(rank).host();
  std::vector<ShardAddress> addresses;
  for (const Member& shard : membership.shards()) {
    auto endpoint = ParseEndpoint(shard.data_endpoint());
    if (!endpoint.ok()) {
      return absl::InternalError(absl::StrCat(
          ToString(shard.id()), " published no usable endpoint: ", endpoint.status().message()));
    }
    ShardAddress& address = addresses.emplace_back(*std::move(endpoint));
    address.local = shard.local_endpoint();
    address.memory = shard.memory_endpoint();
    address.same_host = SameHost(own, shard.host());
  }
  return addresses;
}

}  // namespace ringside
