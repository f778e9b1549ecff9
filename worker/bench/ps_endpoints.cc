#include "worker/bench/ps_endpoints.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "common/network/endpoint.h"
#include "common/network/grpc_server.h"
#include "common/status_macros.h"
#include "worker/synchronizers/ps_summer.h"

namespace ringside {
namespace {

constexpr uint32_t kGeneration = 1;
constexpr char kToken[] = "ps_bench";
// For streams that are closed in good order.
constexpr std::chrono::milliseconds kShutdownGrace(500);

absl::Status NoSuchLink(absl::string_view link) {
  return absl::UnimplementedError(absl::StrCat("no link \"", link, "\" here"));
}

// Abstract names are gone with their socket; the number tells servers of one process apart.
std::string NewLocalTarget() {
  static std::atomic<int> servers{0};
  return absl::StrCat("unix-abstract:ringside-ps-bench-", getpid(), "-", servers++);
}

absl::StatusOr<BenchServer> ListenLocally(
    const std::function<void(grpc::ServerBuilder*)>& add_services) {
  BenchServer started;
  started.target = NewLocalTarget();
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(-1);
  builder.SetMaxSendMessageSize(-1);
  builder.AddListeningPort(started.target, grpc::InsecureServerCredentials());
  add_services(&builder);
  started.server = builder.BuildAndStart();
  if (started.server != nullptr) return started;
  return absl::UnavailableError(absl::StrCat("cannot listen on ", started.target));
}

std::shared_ptr<grpc::Channel> LocalChannel(const std::string& target) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  return grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(), arguments);
}

}  // namespace

std::vector<std::string> ServerLinks() { return {"grpc_tcp"}; }

absl::StatusOr<BenchServer> ListenOn(
    absl::string_view link, const std::function<void(grpc::ServerBuilder*)>& add_services) {
  if (link == "grpc_uds") return ListenLocally(add_services);
  if (link != "grpc_tcp") return NoSuchLink(link);
  RINGSIDE_ASSIGN_OR_RETURN(GrpcServer started,
                            StartGrpcServer({"127.0.0.1", "127.0.0.1", {}}, add_services));
  return BenchServer{std::move(started.server), ToString(started.endpoint)};
}

absl::StatusOr<std::shared_ptr<grpc::Channel>> ConnectTo(absl::string_view link,
                                                         const std::string& target) {
  if (link == "grpc_uds") return LocalChannel(target);
  if (link != "grpc_tcp") return NoSuchLink(link);
  RINGSIDE_ASSIGN_OR_RETURN(const Endpoint endpoint, ParseEndpoint(target));
  return CreateGrpcChannel(endpoint);
}

ShardEnd::ShardEnd(int shard) : service_(shard, kToken) {}

absl::StatusOr<std::unique_ptr<ShardEnd>> ShardEnd::Create(absl::string_view link,
                                                           const BenchPlan& plan, int shard,
                                                           absl::Duration timeout) {
  RINGSIDE_ASSIGN_OR_RETURN(
      std::unique_ptr<ParameterShard> machine,
      ParameterShard::Create({plan.plan, plan.layout, shard, /*group=*/0, kGeneration, 0}));
  auto end = absl::WrapUnique(new ShardEnd(shard));
  RINGSIDE_ASSIGN_OR_RETURN(end->server_, ListenOn(link, [&end](grpc::ServerBuilder* builder) {
                              builder->RegisterCallbackGenericService(&end->service_);
                            }));
  end->executor_ =
      std::make_unique<ShardExecutor>(ShardExecutor::Config{shard, plan.layout.world_size, timeout},
                                      std::move(machine), &end->service_);
  end->service_.Serve({plan.layout.world_size, kGeneration, plan.plan.hash()},
                      end->executor_.get());
  return end;
}

ShardEnd::~ShardEnd() {
  if (server_.server != nullptr) {
    server_.server->Shutdown(std::chrono::system_clock::now() + kShutdownGrace);
  }
  server_.server.reset();
  executor_.reset();
}

absl::StatusOr<std::unique_ptr<GradientSummer>> ConnectWorkerEnd(
    absl::string_view link, const BenchPlan& plan, int rank,
    const std::vector<std::string>& addresses, absl::Duration timeout) {
  if (link != "grpc_tcp") return NoSuchLink(link);
  PsSummer::Config config{Group::World(plan.layout.world_size, rank, kGeneration),
                          plan.plan,
                          {},
                          kToken,
                          plan.layout.frame_bytes,
                          timeout,
                          timeout};
  for (const std::string& address : addresses) {
    RINGSIDE_ASSIGN_OR_RETURN(Endpoint endpoint, ParseEndpoint(address));
    config.shards.push_back(std::move(endpoint));
  }
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<PsSummer> summer, PsSummer::Create(std::move(config)));
  return std::unique_ptr<GradientSummer>(std::move(summer));
}

}  // namespace ringside
