#include "tests/testing/ps_cluster.h"

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
    auto started =
        StartGrpcServer({"127.0.0.1", "127.0.0.1", {}}, [&](grpc::ServerBuilder* builder) {
          builder->RegisterCallbackGenericService(shard->service.get());
        });
    RINGSIDE_CHECK(started.ok());
    shard->server = std::move(started).value();
    shards_.push_back(std::move(shard));
  }
  if (options_.serve) Serve();
}

PsCluster::~PsCluster() {
  for (auto& shard : shards_) {
    if (shard->server.server != nullptr)
      shard->server.server->Shutdown(std::chrono::system_clock::now());
    shard->server.server.reset();
    shard->executor.reset();
  }
}

void PsCluster::Serve() {
  for (int number = 0; number < options_.layout.num_shards; ++number) {
    Shard& shard = *shards_[number];
    auto machine =
        ParameterShard::Create({options_.plan, options_.layout, number, 0, kGeneration, 0});
    RINGSIDE_CHECK(machine.ok());
    shard.executor = std::make_unique<ShardExecutor>(
        ShardExecutor::Config{number, options_.layout.world_size, options_.step_timeout},
        std::move(machine).value(), shard.service.get());
    shard.service->Serve({options_.layout.world_size, kGeneration, options_.plan.hash()},
                         shard.executor.get());
  }
}

PsSummer::Config PsCluster::WorkerConfig(int rank) const {
  std::vector<Endpoint> endpoints;
  for (const auto& shard : shards_) endpoints.push_back(shard->server.endpoint);
  return {Group::World(options_.layout.world_size, rank, kGeneration),
          options_.plan,
          endpoints,
          kToken,
          options_.layout.frame_bytes,
          absl::Seconds(30),
          absl::Seconds(30)};
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
  *gradients = RandomGradients(plan.total_elements(), rank, step);
  for (int bucket = 0; bucket < plan.size(); ++bucket) {
    const ElementRange& range = plan.bucket(bucket);
    summer->Submit({step, rank, bucket,
                    absl::MakeConstSpan(*gradients).subspan(range.begin, range.length),
                    /*samples=*/1});
  }
  RINGSIDE_ASSIGN_OR_RETURN(const absl::Span<const float> sums, summer->Finish(step));
  return std::vector<float>(sums.begin(), sums.end());
}

}  // namespace ringside
