// What standard tools ask of a gRPC server: is it healthy (grpc.health.v1.Health, as
// grpc_health_probe and Kubernetes do), and what can it do (server reflection, as grpcurl does).
// Neither asks for the job's token: they tell nothing but that a shard is there.
//
// Thread-compatible.
#ifndef RINGSIDE_PS_SERVER_SHARD_HEALTH_H_
#define RINGSIDE_PS_SERVER_SHARD_HEALTH_H_

#include <grpcpp/grpcpp.h>

namespace ringside {

// All servers that this process starts from now on have both services. gRPC keeps this for the
// whole process, so that it is said before the first server is started.
void EnableHealthAndReflection();

// What the health service says of the server as a whole (service ""). gRPC begins with SERVING, so
// say otherwise as soon as the server has started. REQUIRES: it was started after
// EnableHealthAndReflection.
void SetServing(grpc::Server* server, bool serving);

}  // namespace ringside

#endif  // RINGSIDE_PS_SERVER_SHARD_HEALTH_H_
