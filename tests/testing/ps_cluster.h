// A parameter server in one process: real shards, each with its gRPC server on a free port of the
// loopback interface.
#ifndef RINGSIDE_TESTS_TESTING_PS_CLUSTER_H_
#define RINGSIDE_TESTS_TESTING_PS_CLUSTER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/arena.h"
#include "common/bucket_plan.h"
#include "common/network/grpc_server.h"
#include "common/network/socket.h"
#include "common/unit_table.h"
#include "ps_server/memory_acceptor.h"
#include "ps_server/shard_executor.h"
#include "ps_server/shard_service.h"
#include "worker/synchronizers/ps_summer.h"

namespace ringside {

class PsCluster {
 public:
  struct Options {
    BucketPlan plan;
    ShardLayout layout;
    absl::Duration step_timeout = absl::Seconds(30);
    bool serve = true;  // false: Serve is called by the test
    std::string ps_link = "grpc_tcp";
    // Of the shards' results and of the gradients below.
    Arena::Placement results = Arena::Placement::kShared;
    Arena::Placement gradients = Arena::Placement::kShared;
    PsPolicy policy = {};
    OptimizerConfig optimizer = {};
    // Of shards that take the place of others: the step that they open, and the losses before.
    uint64_t first_step = 0;
    uint32_t recovery = 0;
  };

  explicit PsCluster(Options options);
  ~PsCluster();

  // Admits workers on all shards.
  void Serve();

  // Where a worker with shared memory has its gradients; of the length of the plan.
  Arena& gradients(int rank) const { return *gradients_[rank]; }
  // What a good worker of this cluster needs.
  PsSummer::Config WorkerConfig(int rank) const;
  // Connects all workers; aborts the test program if one cannot.
  std::vector<std::unique_ptr<PsSummer>> ConnectAll() const;

  const Endpoint& endpoint(int shard) const { return shards_[shard]->server.endpoint; }
  ShardExecutor& executor(int shard) { return *shards_[shard]->executor; }
  ShardService& service(int shard) { return *shards_[shard]->service; }
  // Where the shard exchanges memory.
  const std::string& memory_name(int shard) const { return shards_[shard]->memory_name; }
  // Ends the shard's server at once: its connections break.
  void KillShard(int shard);

 private:
  struct Shard {
    std::unique_ptr<ShardService> service;
    std::unique_ptr<ShardExecutor> executor;
    std::unique_ptr<ListeningSocket> memory_listener;
    std::unique_ptr<MemoryAcceptor> memory_acceptor;
    std::string memory_name;
    GrpcServer server;
  };

  const Options options_;
  std::vector<std::unique_ptr<Shard>> shards_;
  std::vector<std::unique_ptr<Arena>> gradients_;  // by rank
};

// One exchange of random gradients (random_gradients.h) of `step` through `summer`. They are put
// into `gradients`, which must outlive the summer where this fails.
absl::StatusOr<std::vector<float>> Exchange(GradientSummer* summer, const BucketPlan& plan,
                                            int rank, int64_t step, std::vector<float>* gradients);
// The same out of `memory`, of the length of the plan.
absl::StatusOr<std::vector<float>> Exchange(GradientSummer* summer, const BucketPlan& plan,
                                            int rank, int64_t step, absl::Span<float> memory);

}  // namespace ringside

#endif  // RINGSIDE_TESTS_TESTING_PS_CLUSTER_H_
