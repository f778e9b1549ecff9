// Where the bench's links are wired: the two ends of the real parameter server, and servers and
// channels for the raw ceilings. A further link of the server is a name in ServerLinks and a line
// in ListenOn and ConnectWorkerEnd.
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
  // Errors of ListenOn and ParameterShard::Create.
  static absl::StatusOr<std::unique_ptr<ShardEnd>> Create(absl::string_view link,
                                                          const BenchPlan& plan, int shard,
                                                          absl::Duration timeout);
  ~ShardEnd();

  // For ConnectWorkerEnd.
  const std::string& address() const { return server_.target; }

 private:
  explicit ShardEnd(int shard);

  ShardService service_;
  std::unique_ptr<ShardExecutor> executor_;
  BenchServer server_;
};

// Worker `rank`'s end, connected to all shards. `addresses`: by shard. Errors of PsSummer::Create.
absl::StatusOr<std::unique_ptr<GradientSummer>> ConnectWorkerEnd(
    absl::string_view link, const BenchPlan& plan, int rank,
    const std::vector<std::string>& addresses, absl::Duration timeout);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_BENCH_PS_ENDPOINTS_H_
