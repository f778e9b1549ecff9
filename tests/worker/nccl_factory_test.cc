#include "worker/nccl_factory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/coordinator/coordinator_server.h"
#include "common/suspects.h"
#include "tests/testing/fake_cuda_nccl.h"

namespace ringside {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Pair;

WorkerConfig MakeConfig(int rank, int workers, const std::string& device) {
  WorkerConfig config;
  config.job.strategy = "nccl";
  config.job.workers = workers;
  config.job.device = device;
  config.job.steps = 1;
  config.job.step_timeout = absl::Seconds(30);
  config.rank = rank;
  return config;
}

Membership OnHosts(const std::vector<std::string>& boot_ids) {
  Membership membership;
  for (const std::string& boot_id : boot_ids) {
    HostIdentity* host = membership.add_workers()->mutable_host();
    host->set_boot_id(boot_id);
    host->set_network_namespace("net:[1]");
  }
  return membership;
}

TEST(CudaDeviceOfTest, AGivenNumberCounts) {
  EXPECT_EQ(*CudaDeviceOf(MakeConfig(1, 2, "cuda:5"), nullptr), 5);
}

TEST(CudaDeviceOfTest, TheLaunchersLocalRankCounts) {
  WorkerConfig config = MakeConfig(6, 8, "cuda:LOCAL_RANK");
  config.local_rank = 2;
  EXPECT_EQ(*CudaDeviceOf(config, nullptr), 2);
}

TEST(CudaDeviceOfTest, WithoutALauncherTheLocalRankIsCounted) {
  const Membership membership = OnHosts({"a", "b", "a", "a", "b"});
  const int expected[] = {0, 0, 1, 2, 1};
  for (int rank = 0; rank < 5; ++rank) {
    const WorkerConfig config = MakeConfig(rank, 5, "cuda:LOCAL_RANK");
    EXPECT_EQ(*CudaDeviceOf(config, &membership), expected[rank]);
    EXPECT_TRUE(absl::IsUnavailable(CudaDeviceOf(config, nullptr).status()));
  }
}

TEST(NcclFactoryTest, WithoutAGpuItEndsInOneLineThatNamesTheDevice) {
  auto cuda = OpenCudaNccl();
  if (cuda.ok() && (*cuda)->CountDevices().value_or(0) > 0) GTEST_SKIP() << "there is a GPU";
  const absl::Status status = NcclFactory::Open(MakeConfig(0, 1, "cuda:0")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(cuda.ok() ? "--device=cuda:0: this machine has no usable CUDA device"
                                  : "this build has no NCCL"));
}

// Two workers, a real coordinator, and a fake GPU each.
TEST(NcclFactoryTest, AllRanksGetTheIdOfWorkerZero) {
  CoordinatorServer::Config server_config;
  server_config.bind = {"127.0.0.1", "127.0.0.1", {}};
  const auto server = CoordinatorServer::Start(std::move(server_config));
  ASSERT_TRUE(server.ok()) << server.status();
  constexpr int kRanks = 2;
  FakeGpu gpus[kRanks];
  std::vector<std::thread> threads;
  for (int rank = 0; rank < kRanks; ++rank) {
    threads.emplace_back([&, rank] {
      JoinRequest request;
      *request.mutable_member()->mutable_id() = WorkerId(rank);
      request.set_world_size(kRanks);
      auto client = CoordinatorClient::Join({(*server)->endpoint(), absl::Seconds(30)}, request);
      ASSERT_TRUE(client.ok()) << client.status();
      NcclFactory factory(MakeConfig(rank, kRanks, "cuda:LOCAL_RANK"),
                          std::make_unique<FakeCudaNccl>(&gpus[rank]));
      const auto plan = BucketPlan::Create({{"w", {10}}, {"b", {3}}}, 4, 16);
      ASSERT_TRUE(plan.ok()) << plan.status();
      SynchronizerFactory::Meeting meeting;
      meeting.membership = &(*client)->membership();
      meeting.plan = &*plan;
      meeting.coordinator = client->get();
      auto product = factory.Make(meeting);
      ASSERT_TRUE(product.ok()) << product.status();
      EXPECT_THAT(product->facts, Contains(Pair("nccl", "a fake")));
      EXPECT_EQ(product->synchronizer->ExpectedTraffic(10), TrafficCounters());
      EXPECT_TRUE((*client)->Leave().ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int rank = 0; rank < kRanks; ++rank) {
    EXPECT_THAT(gpus[rank].calls(), Contains("connect \"fake id\" " + std::to_string(rank) +
                                             " of 2 on " + std::to_string(rank)));
    EXPECT_THAT(gpus[rank].calls(), Contains("allocate 10"));
  }
}

}  // namespace
}  // namespace ringside
