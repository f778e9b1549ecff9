#include "common/network/grpc_server.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/logging.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

// Pings find a peer whose host went away without a word. The server must allow what clients send,
// or it takes them for an attack and closes the connection.
constexpr int kKeepaliveTimeMs = 10000;
// An answer waits behind all data that is queued on a slow link. Finding a dead peer sooner is the
// lease's business.
constexpr int kKeepaliveTimeoutMs = 60000;
constexpr int kMinPingIntervalMs = 5000;
constexpr int kFirstReconnectMs = 100;
constexpr int kLastReconnectMs = 1000;
// gRPC gives one attempt to connect this long; the name of its argument misleads.
constexpr int kConnectTimeoutMs = 5000;

// 0 where the port can be bound now, else errno. gRPC reports a port that is taken on standard
// error, in several lines and without its number; so we look first.
int ProbePort(const SocketAddress& address) {
  const int fd = socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  const bool bound =
      bind(fd, reinterpret_cast<const sockaddr*>(&address.storage), address.length) == 0 &&
      listen(fd, 1) == 0;
  const int error = errno;
  close(fd);
  return bound ? 0 : error;
}

// What differs from gRPC's own settings, by name of the argument.
std::vector<std::pair<const char*, int>> ArgumentsOf(const GrpcTuning& tuning) {
  std::vector<std::pair<const char*, int>> arguments;
  const auto add = [&arguments](const char* name, int64_t value) {
    if (value > 0) arguments.emplace_back(name, static_cast<int>(value));
  };
  add(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, tuning.max_frame_bytes);
  add(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, tuning.lookahead_bytes);
  add(GRPC_ARG_HTTP2_WRITE_BUFFER_SIZE, tuning.write_buffer_bytes);
  add(GRPC_ARG_TCP_READ_CHUNK_SIZE, tuning.read_chunk_bytes);
  add(GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, tuning.read_chunk_bytes);
  if (!tuning.bdp_probe) arguments.emplace_back(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  if (tuning.tx_zerocopy) arguments.emplace_back(GRPC_ARG_TCP_TX_ZEROCOPY_ENABLED, 1);
  return arguments;
}

// Nobody else finds this name by accident.
std::string RandomLocalName() {
  std::random_device random;
  return absl::StrCat("ringside-", absl::Hex(random(), absl::kZeroPad8),
                      absl::Hex(random(), absl::kZeroPad8));
}

// nullptr, with a port 0, where gRPC cannot bind after all. `local_name` may be empty, then
// `local_port` is left as it is.
std::unique_ptr<grpc::Server> TryPort(const Endpoint& listen, const std::string& local_name,
                                      const std::function<void(grpc::ServerBuilder*)>& add_services,
                                      const GrpcTuning& tuning, int* port, int* local_port) {
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(-1);
  builder.SetMaxSendMessageSize(-1);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveTimeMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             kMinPingIntervalMs);
  for (const auto& [name, value] : ArgumentsOf(tuning)) builder.AddChannelArgument(name, value);
  builder.AddListeningPort(ToString(listen), grpc::InsecureServerCredentials(), port);
  if (!local_name.empty()) {
    builder.AddListeningPort(LocalGrpcTarget(local_name), grpc::InsecureServerCredentials(),
                             local_port);
  }
  add_services(&builder);
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (*port == 0) server = nullptr;
  return server;
}

std::string PortText(const PortRange& ports) {
  if (ports.first == 0) return "any port";
  if (ports.first == ports.last) return absl::StrCat("port ", ports.first);
  return absl::StrCat("any of the ports ", ports.first, "-", ports.last);
}

}  // namespace

absl::StatusOr<GrpcServer> StartGrpcServer(
    const BindAddress& bind, const std::function<void(grpc::ServerBuilder*)>& add_services,
    const GrpcServerOptions& options) {
  int error = 0;
  std::string local_name = options.local ? RandomLocalName() : "";
  for (int port = bind.ports.first; port <= bind.ports.last; ++port) {
    const Endpoint listen = {bind.listen_host, port};
    RINGSIDE_ASSIGN_OR_RETURN(const auto addresses, Resolve(listen));
    error = ProbePort(addresses.front());
    if (error == EADDRINUSE) continue;
    if (error != 0) break;  // no other port would do better
    GrpcServer started;
    int bound_port = 0;
    int local_port = 0;
    started.server =
        TryPort(listen, local_name, add_services, options.tuning, &bound_port, &local_port);
    if (started.server == nullptr && bound_port != 0 && !local_name.empty() && local_port == 0) {
      LogWarning("cannot listen on a Unix socket; peers are reached by TCP alone");
      local_name.clear();
      started.server = TryPort(listen, "", add_services, options.tuning, &bound_port, &local_port);
    }
    if (started.server != nullptr) {
      started.endpoint = {bind.advertise_host, bound_port};
      started.local = local_name;
      return started;
    }
    error = EADDRINUSE;  // somebody was faster
  }
  return absl::UnavailableError(absl::StrCat("cannot listen on ", bind.listen_host, ", ",
                                             PortText(bind.ports), ": ", strerror(error)));
}

std::string LocalGrpcTarget(absl::string_view name) { return absl::StrCat("unix-abstract:", name); }

std::shared_ptr<grpc::Channel> CreateGrpcChannel(const Endpoint& endpoint,
                                                 const GrpcTuning& tuning) {
  return CreateGrpcChannel(ToString(endpoint), tuning);
}

std::shared_ptr<grpc::Channel> CreateGrpcChannel(const std::string& target,
                                                 const GrpcTuning& tuning) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveTimeMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kFirstReconnectMs);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectTimeoutMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kLastReconnectMs);
  for (const auto& [name, value] : ArgumentsOf(tuning)) arguments.SetInt(name, value);
  return grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(), arguments);
}

}  // namespace ringside
