#include "tests/testing/ps_cluster.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "common/check.h"
#include "common/status_macros.h"
#include "ps_server/parameter_shard.h"
#include "tests/testing/random_gradients.h"

namespace ringside {
namespace {

constexpr uint32_t kGeneration = 1;
constexpr char kToken[] = "sesame";

}  // namespace

PsCluster::PsCluster(Options options) : options_(std::move(options)) {
  for (int number = 0; number < options_.layout.num_shards; ++number) {
    auto shard = std::make_unique<Shard>();
    shard->service = std::make_unique<ShardService>(number, kToken);
    GrpcServerOptions server;
    server.local = true;
    auto started = StartGrpcServer(
        {"127.0.0.1", "127.0.0.1", {}},
        [&](grpc::ServerBuilder* builder) {
          builder->RegisterCallbackGenericService(shard->service.get());
        },
        server);
    RINGSIDE_CHECK(started.ok());
    auto listener = ListeningSocket::BindLocal();
    RINGSIDE_CHECK(listener.ok());
    shard->memory_listener = std::move(listener).value();
    shard->memory_name = shard->memory_listener->name();
    shard->server = std::move(started).value();
    shards_.push_back(std::move(shard));
  }
  for (int rank = 0; rank < options_.layout.world_size; ++rank) {
    auto arena = Arena::Create(options_.plan.total_elements(), options_.gradients);
    RINGSIDE_CHECK(arena.ok());
    gradients_.push_back(std::move(arena).value());
  }
  if (options_.serve) Serve();
}

PsCluster::~PsCluster() {
  for (auto& shard : shards_) {
    if (shard->server.server != nullptr)
      shard->server.server->Shutdown(std::chrono::system_clock::now());
    shard->server.server.reset();
    shard->memory_acceptor.reset();
    shard->executor.reset();
  }
}

void PsCluster::Serve() {
  for (int number = 0; number < options_.layout.num_shards; ++number) {
    Shard& shard = *shards_[number];
    ParameterShard::Config config{options_.plan, options_.layout, number};
    config.generation = kGeneration;
    config.first_step = options_.first_step;
    config.placement = options_.results;
    config.policy = options_.policy;
    config.optimizer = options_.optimizer;
    config.full_batch = options_.layout.world_size;  // each worker pushes one sample
    auto machine = ParameterShard::Create(std::move(config));
    RINGSIDE_CHECK(machine.ok());
    const SharedArenas results((*machine)->result_arenas());
    shard.executor = std::make_unique<ShardExecutor>(
        ShardExecutor::Config{number, options_.layout.world_size, options_.step_timeout},
        std::move(machine).value(), shard.service.get());
    shard.service->Serve(
        {options_.layout.world_size, kGeneration, options_.plan.hash(), options_.recovery, results},
        shard.executor.get());
    MemoryAcceptor::Config acceptor;
    acceptor.shard = number;
    acceptor.generation = kGeneration;
    acceptor.world_size = options_.layout.world_size;
    acceptor.token = kToken;
    acceptor.arenas = results;
    acceptor.admit = [service = shard.service.get()](int rank,
                                                     std::shared_ptr<const PeerMemory> memory) {
      return service->AdmitMemory(rank, std::move(memory));
    };
    shard.memory_acceptor =
        std::make_unique<MemoryAcceptor>(shard.memory_listener.get(), std::move(acceptor));
  }
}

PsSummer::Config PsCluster::WorkerConfig(int rank) const {
  PsSummer::Config config{Group::World(options_.layout.world_size, rank, kGeneration),
                          options_.plan};
  for (const auto& shard : shards_) {
    ShardAddress& address = config.shards.emplace_back();
    address.tcp = shard->server.endpoint;
    address.local = shard->server.local;
    address.memory = shard->memory_name;
    address.same_host = true;
  }
  config.token = kToken;
  config.frame_bytes = options_.layout.frame_bytes;
  config.step_timeout = absl::Seconds(30);
  config.connect_timeout = absl::Seconds(30);
  config.ps_link = options_.ps_link;
  config.policy = options_.policy;
  config.gradients = gradients_[rank].get();
  return config;
}

std::vector<std::unique_ptr<PsSummer>> PsCluster::ConnectAll() const {
  std::vector<std::unique_ptr<PsSummer>> summers;
  for (int rank = 0; rank < options_.layout.world_size; ++rank) {
    auto summer = PsSummer::Create(WorkerConfig(rank));
    RINGSIDE_CHECK(summer.ok());
    summers.push_back(std::move(summer).value());
  }
  return summers;
}

void PsCluster::KillShard(int shard) {
  shards_[shard]->server.server->Shutdown(std::chrono::system_clock::now());
  shards_[shard]->server.server.reset();
}

absl::StatusOr<std::vector<float>> Exchange(GradientSummer* summer, const BucketPlan& plan,
                                            int rank, int64_t step, std::vector<float>* gradients) {
  gradients->resize(plan.total_elements());
  return Exchange(summer, plan, rank, step, absl::MakeSpan(*gradients));
}

absl::StatusOr<std::vector<float>> Exchange(GradientSummer* summer, const BucketPlan& plan,
                                            int rank, int64_t step, absl::Span<float> memory) {
  const std::vector<float> gradients = RandomGradients(plan.total_elements(), rank, step);
  std::copy(gradients.begin(), gradients.end(), memory.begin());
  for (int bucket = 0; bucket < plan.size(); ++bucket) {
    const ElementRange& range = plan.bucket(bucket);
    summer->Submit({step, rank, bucket, memory.subspan(range.begin, range.length), /*samples=*/1});
  }
  RINGSIDE_ASSIGN_OR_RETURN(const absl::Span<const float> sums, summer->Finish(step));
  return std::vector<float>(sums.begin(), sums.end());
}

}  // namespace ringside
