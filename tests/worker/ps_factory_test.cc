// The strategy `ps` from flags to sums: real shards, a real coordinator, workers without a model.
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/coordinator/coordinator_server.h"
#include "common/network/host_identity.h"
#include "common/status_macros.h"
#include "common/suspects.h"
#include "ps_server/shard_process.h"
#include "worker/synchronizer_factory.h"

namespace ringside {
namespace {

constexpr int kWorkers = 2;
constexpr int kShards = 2;
constexpr int64_t kElements = 1000;
constexpr char kToken[] = "sesame";

class PsFactoryTest : public ::testing::TestWithParam<std::pair<std::string, std::string>> {
 protected:
  PsFactoryTest() {
    CoordinatorServer::Config config;
    config.bind = {"127.0.0.1", "127.0.0.1", {}};
    config.token = kToken;
    config.world_size = kWorkers;
    config.num_shards = kShards;
    coordinator_ = std::move(CoordinatorServer::Start(std::move(config))).value();
  }

  ServerConfig Shard(int shard) const {
    ServerConfig config;
    config.shard = shard;
    config.num_shards = kShards;
    config.workers = kWorkers;
    config.coordinator = coordinator_->endpoint();
    config.token = kToken;
    config.malloc = "tuned";
    config.step_timeout = absl::Seconds(30);
    config.join_timeout = absl::Seconds(30);
    return config;
  }

  WorkerConfig Worker(int rank, const std::string& link) const {
    WorkerConfig config;
    config.job.strategy = "ps";
    config.job.workers = kWorkers;
    config.job.ps_shards = kShards;
    config.job.ps_link = link;
    config.job.frame_bytes = 256;
    config.job.optimizer.learning_rate = 1;
    config.job.optimizer.momentum = 0;
    config.rank = rank;
    config.coordinator = coordinator_->endpoint();
    config.token = kToken;
    return config;
  }

  // Trains one step on gradients of rank + 1; returns the facts and puts the parameters there.
  absl::StatusOr<std::string> Train(const WorkerConfig& config, std::vector<float>* parameters) {
    const std::vector<ParameterSpec> specs = {{"a", {kElements}, "float32"}};
    RINGSIDE_ASSIGN_OR_RETURN(
        const BucketPlan plan,
        BucketPlan::Create(specs, config.job.first_bucket_bytes, config.job.bucket_bytes));
    RINGSIDE_ASSIGN_OR_RETURN(
        const std::unique_ptr<Arena> gradients,
        Arena::Create(kElements, SynchronizerFactory::GradientPlacement(config)));
    RINGSIDE_ASSIGN_OR_RETURN(const auto factory, SynchronizerFactory::Create(config));
    JoinRequest request;
    *request.mutable_member()->mutable_id() = WorkerId(config.rank);
    *request.mutable_member()->mutable_host() = ReadHostIdentity();
    request.mutable_member()->set_pid(getpid());
    request.set_token(kToken);
    request.set_world_size(kWorkers);
    request.set_num_shards(kShards);
    request.set_timeout_ms(30000);
    for (const auto& [name, value] : config.job.SharedSettings())
      (*request.mutable_settings())[name] = value;
    ParameterDescription* parameter = request.add_parameters();
    parameter->set_name("a");
    parameter->add_shape(kElements);
    parameter->set_dtype("float32");
    RINGSIDE_ASSIGN_OR_RETURN(
        const auto client,
        CoordinatorClient::Join({*config.coordinator, absl::Seconds(30)}, request));
    RINGSIDE_ASSIGN_OR_RETURN(
        SynchronizerFactory::Product product,
        factory->Make({&client->membership(), &plan, gradients.get(), client.get()}));
    parameters->assign(kElements, config.rank == 0 ? 10.0f : 0.0f);
    RINGSIDE_RETURN_IF_ERROR(product.synchronizer->Start(absl::MakeSpan(*parameters)));
    for (float& value : gradients->span()) value = static_cast<float>(config.rank + 1);
    product.synchronizer->Submit({1, config.rank, 0, gradients->span(), 1});
    RINGSIDE_RETURN_IF_ERROR(product.synchronizer->Finish(1).status());
    RINGSIDE_RETURN_IF_ERROR(product.synchronizer->Shutdown().status());
    RINGSIDE_RETURN_IF_ERROR(
        client->Gather("results", EveryoneOf(client->membership()), "", absl::Seconds(30))
            .status());
    RINGSIDE_RETURN_IF_ERROR(client->Leave());
    return product.facts["ps_link"];
  }

  std::unique_ptr<CoordinatorServer> coordinator_;
};

TEST_P(PsFactoryTest, TheLinkInForceIsReportedAndTheSumsAreRight) {
  std::vector<std::thread> threads;
  std::vector<absl::Status> shards(kShards);
  for (int shard = 0; shard < kShards; ++shard) {
    threads.emplace_back([&, shard] { shards[shard] = ShardProcess(Shard(shard)).Run(); });
  }
  std::vector<absl::StatusOr<std::string>> links(kWorkers, absl::UnknownError("not yet"));
  std::vector<std::vector<float>> parameters(kWorkers);
  for (int rank = 0; rank < kWorkers; ++rank) {
    threads.emplace_back(
        [&, rank] { links[rank] = Train(Worker(rank, GetParam().first), &parameters[rank]); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& status : shards) EXPECT_TRUE(status.ok()) << status;
  for (int rank = 0; rank < kWorkers; ++rank) {
    ASSERT_TRUE(links[rank].ok()) << links[rank].status();
    EXPECT_EQ(*links[rank], GetParam().second);
    EXPECT_EQ(parameters[rank], std::vector<float>(kElements, 7.0f));  // 10 - (1 + 2)
  }
}

INSTANTIATE_TEST_SUITE_P(Links, PsFactoryTest,
                         ::testing::Values(std::make_pair("auto", "shm"),
                                           std::make_pair("shm", "shm"),
                                           std::make_pair("grpc_uds", "grpc_uds"),
                                           std::make_pair("grpc_tcp", "grpc_tcp")),
                         [](const auto& info) { return info.param.first; });

}  // namespace
}  // namespace ringside
