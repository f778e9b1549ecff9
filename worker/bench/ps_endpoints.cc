#include "worker/bench/ps_endpoints.h"

#include <chrono>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/network/endpoint.h"
#include "common/shared_memory/shared_arenas.h"
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

// "127.0.0.1:4711 ringside-grpc-name memory-name"; abstract names hold no spaces.
absl::StatusOr<ShardAddress> ParseShardAddress(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ' ');
  if (parts.size() != 3) return absl::InternalError(absl::StrCat("no shard's address: ", text));
  ShardAddress address;
  RINGSIDE_ASSIGN_OR_RETURN(address.tcp, ParseEndpoint(parts[0]));
  address.local = parts[1];
  address.memory = parts[2];
  address.same_host = true;
  return address;
}

}  // namespace

std::vector<std::string> ServerLinks() { return {"grpc_tcp", "grpc_uds", "shm"}; }

absl::StatusOr<BenchServer> ListenOn(
    absl::string_view link, const std::function<void(grpc::ServerBuilder*)>& add_services) {
  if (link != "grpc_tcp" && link != "grpc_uds") return NoSuchLink(link);
  GrpcServerOptions options;
  options.local = link == "grpc_uds";
  RINGSIDE_ASSIGN_OR_RETURN(GrpcServer started,
                            StartGrpcServer({"127.0.0.1", "127.0.0.1", {}}, add_services, options));
  std::string target = options.local ? LocalGrpcTarget(started.local) : ToString(started.endpoint);
  return BenchServer{std::move(started.server), std::move(target)};
}

absl::StatusOr<std::shared_ptr<grpc::Channel>> ConnectTo(absl::string_view link,
                                                         const std::string& target) {
  if (link == "grpc_uds") return CreateGrpcChannel(target);
  if (link != "grpc_tcp") return NoSuchLink(link);
  RINGSIDE_ASSIGN_OR_RETURN(const Endpoint endpoint, ParseEndpoint(target));
  return CreateGrpcChannel(endpoint);
}

ShardEnd::ShardEnd(int shard) : service_(shard, kToken) {}

absl::StatusOr<std::unique_ptr<ShardEnd>> ShardEnd::Create(absl::string_view link,
                                                           const BenchPlan& plan, int shard,
                                                           absl::Duration timeout) {
  ParameterShard::Config config{plan.plan, plan.layout, shard};
  config.generation = kGeneration;
  if (link == "shm") config.placement = Arena::Placement::kShared;
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<ParameterShard> machine,
                            ParameterShard::Create(std::move(config)));
  auto end = absl::WrapUnique(new ShardEnd(shard));
  const SharedArenas results(machine->result_arenas());
  for (const Arena* arena : machine->result_arenas()) {
    end->arena_bytes_ += static_cast<int64_t>(arena->span().size() * sizeof(float));
  }
  GrpcServerOptions options;
  options.local = true;
  const auto add_services = [&end](grpc::ServerBuilder* builder) {
    builder->RegisterCallbackGenericService(&end->service_);
  };
  RINGSIDE_ASSIGN_OR_RETURN(end->server_,
                            StartGrpcServer({"127.0.0.1", "127.0.0.1", {}}, add_services, options));
  RINGSIDE_ASSIGN_OR_RETURN(end->memory_listener_, ListeningSocket::BindLocal());
  MemoryAcceptor::Config memory;
  memory.shard = shard;
  memory.generation = kGeneration;
  memory.world_size = plan.layout.world_size;
  memory.token = kToken;
  memory.arenas = results;
  memory.admit = [service = &end->service_](int rank, std::shared_ptr<const PeerMemory> shared) {
    return service->AdmitMemory(rank, std::move(shared));
  };
  end->acceptor_ = std::make_unique<MemoryAcceptor>(end->memory_listener_.get(), std::move(memory));
  end->executor_ =
      std::make_unique<ShardExecutor>(ShardExecutor::Config{shard, plan.layout.world_size, timeout},
                                      std::move(machine), &end->service_);
  end->service_.Serve({plan.layout.world_size, kGeneration, plan.plan.hash(), 0, results},
                      end->executor_.get());
  return end;
}

std::string ShardEnd::address() const {
  return absl::StrCat(ToString(server_.endpoint), " ", server_.local, " ",
                      memory_listener_->name());
}

ShardEnd::~ShardEnd() {
  acceptor_.reset();
  if (server_.server != nullptr) {
    server_.server->Shutdown(std::chrono::system_clock::now() + kShutdownGrace);
  }
  server_.server.reset();
  executor_.reset();
}

absl::StatusOr<std::unique_ptr<GradientSummer>> ConnectWorkerEnd(
    absl::string_view link, const BenchPlan& plan, int rank,
    const std::vector<std::string>& addresses, const Arena* gradients, absl::Duration timeout) {
  PsSummer::Config config{Group::World(plan.layout.world_size, rank, kGeneration), plan.plan};
  for (const std::string& address : addresses) {
    RINGSIDE_ASSIGN_OR_RETURN(ShardAddress parsed, ParseShardAddress(address));
    config.shards.push_back(std::move(parsed));
  }
  config.token = kToken;
  config.frame_bytes = plan.layout.frame_bytes;
  config.step_timeout = timeout;
  config.connect_timeout = timeout;
  config.finish_timeout = timeout;
  config.ps_link = std::string(link);
  config.gradients = gradients;
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<PsExchange> exchange,
                            PsExchange::Create(std::move(config)));
  if (exchange->links_in_force() != link) {
    return absl::UnavailableError(
        absl::StrCat("asked for ", link, ", got ", exchange->links_in_force()));
  }
  return std::unique_ptr<GradientSummer>(std::make_unique<PsSummer>(std::move(exchange)));
}

}  // namespace ringside
