// Starts a gRPC server on the first free port of a range. The only place where servers and their
// arguments are made.
#ifndef RINGSIDE_COMMON_NETWORK_GRPC_SERVER_H_
#define RINGSIDE_COMMON_NETWORK_GRPC_SERVER_H_

#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/network/bind_address.h"
#include "common/network/grpc_tuning.h"

namespace ringside {

struct GrpcServer {
  std::unique_ptr<grpc::Server> server;
  Endpoint endpoint;  // advertised host and the port that was bound
  std::string local;  // abstract Unix name under which it listens too; empty: none
};

struct GrpcServerOptions {
  GrpcTuning tuning;
  bool local = false;  // listens under a random abstract Unix name as well, for peers of this host
};

// `add_services` registers services on the builder; it is called once for each port that is tried.
// Sets unlimited message sizes, no port sharing, and keepalive limits that accept our clients'
// pings. Where the system has no abstract Unix names, it listens on TCP alone and says so in the
// log. UNAVAILABLE: no port of the range is free, names the range and the address.
absl::StatusOr<GrpcServer> StartGrpcServer(
    const BindAddress& bind, const std::function<void(grpc::ServerBuilder*)>& add_services,
    const GrpcServerOptions& options = {});

// gRPC's name for the server that listens under an abstract Unix name (GrpcServer::local).
std::string LocalGrpcTarget(absl::string_view name);

// A channel with a connection of its own (no sharing between channels to one address), unlimited
// message sizes, no retries, keepalive as in proto/README.md. `target`: host:port or what
// LocalGrpcTarget gives.
std::shared_ptr<grpc::Channel> CreateGrpcChannel(const std::string& target,
                                                 const GrpcTuning& tuning = {});
std::shared_ptr<grpc::Channel> CreateGrpcChannel(const Endpoint& endpoint,
                                                 const GrpcTuning& tuning = {});

}  // namespace ringside

#endif  // RINGSIDE_COMMON_NETWORK_GRPC_SERVER_H_
