// Starts a gRPC server on the first free port of a range. The only place where servers and their
// arguments are made.
#ifndef RINGSIDE_COMMON_NETWORK_GRPC_SERVER_H_
#define RINGSIDE_COMMON_NETWORK_GRPC_SERVER_H_

#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "common/network/bind_address.h"

namespace ringside {

struct GrpcServer {
  std::unique_ptr<grpc::Server> server;
  Endpoint endpoint;  // advertised host and the port that was bound
};

// `add_services` registers services on the builder; it is called once for each port that is tried.
// Sets unlimited message sizes, no port sharing, and keepalive limits that accept our clients'
// pings. UNAVAILABLE: no port of the range is free, names the range and the address.
absl::StatusOr<GrpcServer> StartGrpcServer(
    const BindAddress& bind, const std::function<void(grpc::ServerBuilder*)>& add_services);

// A channel with a connection of its own (no sharing between channels to one address), unlimited
// message sizes, no retries, keepalive as in proto/README.md.
std::shared_ptr<grpc::Channel> CreateGrpcChannel(const Endpoint& endpoint);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_NETWORK_GRPC_SERVER_H_
