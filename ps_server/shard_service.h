// The data service of one shard: admits one stream of frames per worker and carries frames between
// them and the executor.
//
// The server has to listen before the shard joins the job, because joining publishes its port.
// Streams that come before the shard knows the job wait until Serve, and are then admitted or
// refused.
//
// A stream is refused with UNAUTHENTICATED (wrong token), INVALID_ARGUMENT (rank that is none),
// FAILED_PRECONDITION (rank outside the job or already connected, another generation, another
// bucket plan, a ticket for memory that is not shared) or UNIMPLEMENTED (another method).
//
// Thread-safe. It must outlive the server and the executor; the executor must outlive the server.
#ifndef RINGSIDE_PS_SERVER_SHARD_SERVICE_H_
#define RINGSIDE_PS_SERVER_SHARD_SERVICE_H_

#include <grpcpp/generic/async_generic_service.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/mutex.h"
#include "common/shared_memory/peer_memory.h"
#include "common/shared_memory/shared_arenas.h"
#include "common/traffic.h"
#include "ps_server/reply_clock.h"
#include "ps_server/shard_executor.h"
#include "ps_server/worker_stream.h"

namespace ringside {

class ShardService final : public grpc::CallbackGenericService, public ShardExecutor::Streams {
 public:
  // What the streams of this job must say.
  struct Job {
    int world_size = 1;
    uint32_t generation = 0;
    std::string plan_hash;
    uint32_t recovery = 0;  // losses of shards made good before
    SharedArenas results;   // where results lie; what is in none of them is sent
  };

  ShardService(int shard, std::string token);
  ~ShardService() override;

  // From now on streams of this recovery are admitted, and their frames go to `executor`. Again
  // after each loss of a shard that is made good: then all earlier streams have been closed, and
  // their executor must live on.
  void Serve(Job job, ShardExecutor* executor);

  // From now on replies are traced as well; `trace` outlives the service.
  void TraceTo(TraceBuffer* trace) { reply_clock_.TraceTo(trace); }

  // Worker `rank` has mapped Job::results, and the shard `memory`. Returns the ticket by which the
  // worker's next stream refers to it, never 0. A later call for the same rank replaces it.
  uint64_t AdmitMemory(int rank, std::shared_ptr<const PeerMemory> memory);

  // Of all streams so far.
  TrafficCounters traffic() const;
  ReplyClock::Total replies() const { return reply_clock_.total(); }
  // With a stream that was admitted and is not over.
  int connected_workers() const;

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override;

  void Send(const ParameterShard::Result& result) override;
  void FrameTaken(int worker) override;
  void CloseAll(const absl::Status& failure) override;

 private:
  struct Memory {
    uint64_t ticket = 0;
    std::shared_ptr<const PeerMemory> memory;
  };
  struct EarlyResult {
    ParameterShard::Result result;
    ReplyClock::Ticket reply;
  };
  // A result, for streams with and without shared memory; each half is made when it is needed.
  class Outgoing;

  void AdmitOrRefuse(WorkerStream* stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<int> AdmissibleRank(const WorkerStream::Hello& hello) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // What the worker shares with the stream; null: it shares nothing.
  absl::StatusOr<std::shared_ptr<const PeerMemory>> MemoryOf(int rank,
                                                             const WorkerStream::Hello& hello)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SendEarly(int rank) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void StreamDone(WorkerStream* stream);

  // Constant after construction.
  const int shard_;
  const std::string token_sha256_;

  ReplyClock reply_clock_;  // outlives the streams, which hold its tickets

  mutable Mutex mutex_;
  Job job_ ABSL_GUARDED_BY(mutex_);
  ShardExecutor* executor_ ABSL_GUARDED_BY(mutex_) = nullptr;  // set by Serve
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
  // Every stream that gRPC still knows. by_rank_ has the admitted ones; a rank stays taken when its
  // stream is done, because who has lost its stream has missed frames.
  std::map<WorkerStream*, std::unique_ptr<WorkerStream>> streams_ ABSL_GUARDED_BY(mutex_);
  std::vector<WorkerStream*> by_rank_ ABSL_GUARDED_BY(mutex_);  // null: none, or done
  std::vector<bool> taken_ ABSL_GUARDED_BY(mutex_);
  // By rank: results for workers whose stream has yet to come. After a loss one worker may restore
  // what another is still owed, of one step at most.
  std::vector<std::vector<EarlyResult>> early_ ABSL_GUARDED_BY(mutex_);
  std::map<int, Memory> memories_ ABSL_GUARDED_BY(mutex_);  // by rank, until a stream takes it
  uint64_t last_ticket_ ABSL_GUARDED_BY(mutex_) = 0;
  TrafficCounters traffic_of_done_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ringside

#endif  // RINGSIDE_PS_SERVER_SHARD_SERVICE_H_
