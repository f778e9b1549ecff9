// How one worker reaches one shard of a parameter server: which transport --ps_link gives the two,
// and the memory that they share.
#ifndef RINGSIDE_WORKER_SYNCHRONIZERS_SHARD_LINK_H_
#define RINGSIDE_WORKER_SYNCHRONIZERS_SHARD_LINK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/network/endpoint.h"
#include "common/shared_memory/peer_memory.h"
#include "common/shared_memory/shared_arenas.h"

namespace ringside {

// Where a shard listens, as it published it.
struct ShardAddress {
  Endpoint tcp;
  std::string local;       // of gRPC, an abstract Unix name; empty: none
  std::string memory;      // an abstract Unix name, to exchange memory; empty: none
  bool same_host = false;  // as this worker

  ShardAddress() = default;
  ShardAddress(Endpoint endpoint) : tcp(std::move(endpoint)) {}  // NOLINT: by TCP alone
};

// "10.0.0.1:4000", for messages.
inline std::string ToString(const ShardAddress& address) { return ToString(address.tcp); }

struct ShardLink {
  std::string name;    // in force: "grpc_tcp", "grpc_uds" or "shm"
  std::string target;  // of gRPC, for CreateGrpcChannel
  // Of shm: the shard's results, and what refers to the exchange.
  std::shared_ptr<const PeerMemory> memory;
  uint64_t ticket = 0;
};

struct ShardLinkConfig {
  std::string ps_link = "auto";  // auto, grpc_tcp, grpc_uds, shm
  int shard = 0;
  ShardAddress address;
  std::string token;
  int rank = 0;
  uint32_t generation = 0;
};

// Chooses the link, and for shm exchanges memory, where the shard gets `own`. `auto` is shm on one
// host, if both have the socket for it, else grpc_tcp. Where shm is not to be had after all, gRPC
// carries the payload over the Unix socket, and the log says why. Blocks until `deadline` at most;
// meanwhile `interrupted` is asked several times a second, and its error ends the attempt.
// INVALID_ARGUMENT: an unknown link. FAILED_PRECONDITION: a link that needs one host, and the shard
// is on another, or does not listen on a Unix socket. DEADLINE_EXCEEDED: no answer about memory;
// names the shard, as suspect too.
absl::StatusOr<ShardLink> OpenShardLink(const ShardLinkConfig& config, const SharedArenas& own,
                                        absl::Time deadline,
                                        const std::function<absl::Status()>& interrupted);

// "shm", or "grpc_tcp,shm" where shards are reached in several ways: for the results.
std::string LinksInForce(const std::vector<ShardLink>& links);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_SYNCHRONIZERS_SHARD_LINK_H_
