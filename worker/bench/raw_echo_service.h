// The shard's side of the raw gRPC ceiling: sends every frame back to its sender at once. By gRPC's
// callback API and by its synchronous one. Thread-safe; must outlive the server.
#ifndef RINGSIDE_WORKER_BENCH_RAW_ECHO_SERVICE_H_
#define RINGSIDE_WORKER_BENCH_RAW_ECHO_SERVICE_H_

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

namespace ringside {

class CallbackEchoService final : public grpc::CallbackGenericService {
 public:
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override;
};

// One thread of gRPC for every stream, as generated code has it.
class SyncEchoService final : public grpc::Service {
 public:
  SyncEchoService();
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_BENCH_RAW_ECHO_SERVICE_H_
