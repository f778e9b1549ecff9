// All ranks of a ring over gRPC in one process.
#ifndef RINGSIDE_TESTS_ALLREDUCE_GRPC_RING_CLUSTER_H_
#define RINGSIDE_TESTS_ALLREDUCE_GRPC_RING_CLUSTER_H_

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "allreduce/grpc_ring_link.h"
#include "common/group.h"
#include "tests/testing/ring_cluster.h"

namespace ringside {

using GrpcLink = absl::StatusOr<std::unique_ptr<GrpcRingLink>>;
inline constexpr uint32_t kGeneration = 3;

inline GrpcRingLink::Config MakeConfig(int ranks, int rank, const Endpoint& right) {
  GrpcRingLink::Config config;
  config.group = Group::World(ranks, rank, kGeneration);
  config.right = right;
  config.token = "secret";
  config.plan_hash = "plan";
  config.connect_timeout = absl::Seconds(30);
  return config;
}

// One entry for each rank: its link, or why it has none.
inline std::vector<GrpcLink> ConnectGrpcRing(
    int ranks, const std::function<void(int, GrpcRingLink::Config*)>& adjust = nullptr) {
  std::vector<std::unique_ptr<GrpcRingListener>> listeners;
  for (int rank = 0; rank < ranks; ++rank) {
    listeners.push_back(*GrpcRingListener::Open(LoopbackBind()));
  }
  std::vector<GrpcRingLink::Config> configs;
  for (int rank = 0; rank < ranks; ++rank) {
    configs.push_back(MakeConfig(ranks, rank, listeners[(rank + 1) % ranks]->endpoint()));
    if (adjust != nullptr) adjust(rank, &configs.back());
  }
  std::vector<GrpcLink> links(ranks);
  RunRanks(ranks, [&](int rank) {
    links[rank] = GrpcRingLink::Connect(std::move(listeners[rank]), configs[rank]);
    return links[rank].status();
  });
  return links;
}

}  // namespace ringside

#endif  // RINGSIDE_TESTS_ALLREDUCE_GRPC_RING_CLUSTER_H_
