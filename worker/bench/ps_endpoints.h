// Where the bench's links are wired: the two ends of the real parameter server, and servers and
// channels for the raw ceilings.
#ifndef RINGSIDE_WORKER_BENCH_PS_ENDPOINTS_H_
#define RINGSIDE_WORKER_BENCH_PS_ENDPOINTS_H_

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/arena.h"
#include "common/network/grpc_server.h"
#include "common/network/socket.h"
#include "ps_server/memory_acceptor.h"
#include "ps_server/shard_executor.h"
#include "ps_server/shard_service.h"
#include "worker/bench/bench_plan.h"
#include "worker/synchronizers/gradient_summer.h"

namespace ringside {

// The links over which PsSummer and ps_server work.
std::vector<std::string> ServerLinks();

// A gRPC server with what clients of the bench need to reach it.
struct BenchServer {
  std::unique_ptr<grpc::Server> server;
  std::string target;  // as gRPC names it: "127.0.0.1:4711", "unix-abstract:..."
};

// `link`: grpc_tcp or grpc_uds; another is UNIMPLEMENTED. UNAVAILABLE: cannot listen.
absl::StatusOr<BenchServer> ListenOn(absl::string_view link,
                                     const std::function<void(grpc::ServerBuilder*)>& add_services);
// A channel with a connection of its own, with the settings of the server's own clients.
absl::StatusOr<std::shared_ptr<grpc::Channel>> ConnectTo(absl::string_view link,
                                                         const std::string& target);

// One shard as ps_server has it, without the job around it. Thread-compatible.
class ShardEnd {
 public:
  // Listens on TCP, on a Unix socket and for memory; over shm its sums lie in shared memory. Errors
  // of StartGrpcServer, ListeningSocket::BindLocal and ParameterShard::Create.
  static absl::StatusOr<std::unique_ptr<ShardEnd>> Create(absl::string_view link,
                                                          const BenchPlan& plan, int shard,
                                                          absl::Duration timeout);
  ~ShardEnd();

  // For ConnectWorkerEnd.
  std::string address() const;
  // Of the arenas that the shard keeps.
  int64_t arena_bytes() const { return arena_bytes_; }

 private:
  explicit ShardEnd(int shard);

  ShardService service_;
  std::unique_ptr<ShardExecutor> executor_;
  std::unique_ptr<ListeningSocket> memory_listener_;
  std::unique_ptr<MemoryAcceptor> acceptor_;  // refers to the two above
  GrpcServer server_;
  int64_t arena_bytes_ = 0;
};

// Worker `rank`'s end, connected to all shards. `addresses`: by shard. `gradients`: where what is
// submitted lies; outlives it. Errors of PsSummer::Create, and UNAVAILABLE: another link than
// `link` came of it.
absl::StatusOr<std::unique_ptr<GradientSummer>> ConnectWorkerEnd(
    absl::string_view link, const BenchPlan& plan, int rank,
    const std::vector<std::string>& addresses, const Arena* gradients, absl::Duration timeout);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_BENCH_PS_ENDPOINTS_H_
