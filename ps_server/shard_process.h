// The life of one `ps_server` process: listen, join the job, serve one shard until the workers are
// done, report, leave.
#ifndef RINGSIDE_PS_SERVER_SHARD_PROCESS_H_
#define RINGSIDE_PS_SERVER_SHARD_PROCESS_H_

#include <memory>

#include "absl/status/status.h"
#include "common/coordinator/coordinator_client.h"
#include "common/network/grpc_server.h"
#include "common/network/socket.h"
#include "common/shared_memory/shared_arenas.h"
#include "common/unit_table.h"
#include "ps_server/memory_acceptor.h"
#include "ps_server/server_config.h"
#include "ps_server/shard_executor.h"
#include "ps_server/shard_service.h"
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
  // Where results are to lie: shared, if some worker of this host may read them there.
  Arena::Placement ResultPlacement() const;
  void ShareMemory(const SharedArenas& results);
  absl::Status Report();
  ShardResult MakeResult() const;
  int64_t step() const;

  const ServerConfig config_;
  ShardService service_;
  std::unique_ptr<BucketPlan> plan_;
  ShardLayout layout_;
  std::unique_ptr<ShardExecutor> executor_;
  std::unique_ptr<ListeningSocket> memory_listener_;  // until there is a shard; null: none
  std::unique_ptr<MemoryAcceptor> memory_acceptor_;  // refers to the service and the shard's arenas
  std::unique_ptr<CoordinatorClient> client_;
  GrpcServer server_;
};

}  // namespace ringside

#endif  // RINGSIDE_PS_SERVER_SHARD_PROCESS_H_
