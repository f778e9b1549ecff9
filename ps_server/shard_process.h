// The life of one `ps_server` process: listen, join the job, serve one shard until the workers are
// done, report, leave.
#ifndef RINGSIDE_PS_SERVER_SHARD_PROCESS_H_
#define RINGSIDE_PS_SERVER_SHARD_PROCESS_H_

#include <memory>

#include "absl/status/status.h"
#include "common/coordinator/coordinator_client.h"
#include "common/network/grpc_server.h"
#include "common/unit_table.h"
#include "ps_server/election_follower.h"
#include "ps_server/election_service.h"
#include "ps_server/metrics_endpoint.h"
#include "ps_server/server_config.h"
#include "ps_server/shard_executor.h"
#include "ps_server/shard_metrics.h"
#include "ps_server/shard_service.h"
#include "ps_server/shard_settings.h"
#include "results.pb.h"

namespace ringside {

class ShardProcess {
 public:
  explicit ShardProcess(ServerConfig config);
  ~ShardProcess();

  // Blocks until the job is over. Errors are the verdict if the coordinator gave one, else what
  // went wrong here: INVALID_ARGUMENT (network options, more shards than elements), UNAVAILABLE (no
  // port, no coordinator), FAILED_PRECONDITION or DEADLINE_EXCEEDED (joining), and those of
  // ShardExecutor::Await.
  absl::Status Run();

 private:
  absl::Status Listen();
  absl::Status Join();
  // From here on failures go to the coordinator first.
  absl::Status Serve();
  absl::StatusOr<std::unique_ptr<ParameterShard>> MakeShard();
  absl::Status Report();
  ShardResult MakeResult() const;
  // From any thread, once Serve has made the executor.
  ShardMetrics Measure() const;
  int64_t step() const;

  absl::Status FollowElections();

  const ServerConfig config_;
  ShardService service_;
  ElectionService elections_;
  std::unique_ptr<BucketPlan> plan_;
  ShardLayout layout_;
  ShardSettings settings_;
  std::unique_ptr<ShardExecutor> executor_;
  std::unique_ptr<ElectionFollower> follower_;  // its callbacks use the executor
  std::unique_ptr<CoordinatorClient> client_;
  GrpcServer server_;
  std::unique_ptr<MetricsEndpoint> metrics_;  // reads all the others; null without --metrics_port
};

}  // namespace ringside

#endif  // RINGSIDE_PS_SERVER_SHARD_PROCESS_H_
