// The life of one `ps_server` process: listen, join the job, serve one shard until the workers are
// done, report, leave.
//
// The life has epochs: when a shard is lost and replaced, this process or another, all shards begin
// anew from what they agree on with the workers (common/recovery_plan.h), with a new executor.
#ifndef RINGSIDE_PS_SERVER_SHARD_PROCESS_H_
#define RINGSIDE_PS_SERVER_SHARD_PROCESS_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "common/coordinator/coordinator_client.h"
#include "common/mutex.h"
#include "common/network/grpc_server.h"
#include "common/network/socket.h"
#include "common/shared_memory/shared_arenas.h"
#include "ps_server/election_follower.h"
#include "ps_server/election_service.h"
#include "ps_server/memory_acceptor.h"
#include "ps_server/metrics_endpoint.h"
#include "ps_server/server_config.h"
#include "ps_server/shard_epochs.h"
#include "ps_server/shard_executor.h"
#include "ps_server/shard_maker.h"
#include "ps_server/shard_metrics.h"
#include "ps_server/shard_service.h"
#include "ps_server/shard_trace.h"
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

  // From any thread, when this process was told to end: saves a snapshot of the next step that is
  // closed, where snapshots are kept, and waits for that a moment. Run ends then; the loss is for
  // others to notice. Where worker 0 saves checkpoints it has been told to end too, usually, and
  // needs the shards up to the step after which it saves: then this waits some seconds for the job
  // to end.
  void Terminate();

 private:
  absl::Status Listen();
  absl::Status Join();
  // From here on failures go to the coordinator first.
  absl::Status Serve();
  // After a loss: what all members tell each other.
  absl::StatusOr<ShardMaker::States> Meet(uint32_t recovery);
  // From one loss to the next, or to the end. No states: the job begins.
  absl::Status ServeEpoch(uint32_t recovery, const absl::optional<ShardMaker::States>& states);
  // Where results are to lie: shared, if some worker of this host may read them there.
  Arena::Placement ResultPlacement() const;
  std::unique_ptr<MemoryAcceptor> ShareMemory(const SharedArenas& results);
  absl::Status StepClosed(uint64_t step, ParameterShard* shard);
  // INVALID_ARGUMENT: the address of shard 0 cannot be read.
  absl::Status FollowElections(uint32_t recovery, ShardExecutor* executor);
  absl::Status Report();
  ShardResult MakeResult() const;
  // From any thread, once Serve has made maker_.
  ShardMetrics Measure() const;
  int64_t step() const;

  const ServerConfig config_;
  ShardTrace trace_;  // the service writes to it
  ShardService service_;
  ElectionService elections_;
  std::unique_ptr<ListeningSocket> memory_listener_;  // null: there are none on this system
  std::unique_ptr<ShardMaker> maker_;
  ShardEpochs epochs_;
  std::unique_ptr<ElectionFollower> follower_;  // its callbacks use an executor
  std::unique_ptr<CoordinatorClient> client_;
  GrpcServer server_;

  mutable Mutex mutex_;
  CondVar saved_changed_;
  bool terminating_ ABSL_GUARDED_BY(mutex_) = false;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;  // there is no more to serve
  bool saved_ ABSL_GUARDED_BY(mutex_) = false;  // the snapshot of the end
  int64_t snapshots_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Duration snapshot_time_ ABSL_GUARDED_BY(mutex_);

  bool measured_ = false;                     // metrics_ has been told how to measure
  std::unique_ptr<MetricsEndpoint> metrics_;  // reads all the others; null without --metrics_port
};

}  // namespace ringside

#endif  // RINGSIDE_PS_SERVER_SHARD_PROCESS_H_
