#include "worker/synchronizer_factory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

using ::testing::HasSubstr;

WorkerConfig Config(const std::string& strategy, int workers) {
  WorkerConfig config;
  config.job.strategy = strategy;
  config.job.workers = workers;
  config.coordinator = Endpoint{"127.0.0.1", 4000};
  return config;
}

BucketPlan OneBucket() { return *BucketPlan::Create({{"a", {3}, "float32"}}, 4, 4); }

Member Announced(const WorkerConfig& config) {
  Member member;
  (*SynchronizerFactory::Create(config))->Announce(&member);
  return member;
}

TEST(SynchronizerFactoryTest, ARingListensAndOthersDoNot) {
  WorkerConfig config = Config("ring", 2);
  EXPECT_THAT(Announced(config).data_endpoint(), HasSubstr("127.0.0.1:"));
  EXPECT_NE(Announced(config).local_endpoint(), "");
  config.job.ring_link = "grpc";
  EXPECT_THAT(Announced(config).data_endpoint(), HasSubstr("127.0.0.1:"));
  EXPECT_EQ(Announced(config).local_endpoint(), "");
  for (const auto& quiet : {Config("ring", 1), Config("ps", 2), Config("local", 2)}) {
    EXPECT_EQ(Announced(quiet).data_endpoint(), "") << quiet.job.strategy;
  }
}

TEST(SynchronizerFactoryTest, GradientsAreSharedWhereNeighboursMayReadThem) {
  WorkerConfig config = Config("ring", 2);
  EXPECT_EQ(SynchronizerFactory::GradientPlacement(config), Arena::Placement::kShared);
  config.job.ring_link = "tcp";
  EXPECT_EQ(SynchronizerFactory::GradientPlacement(config), Arena::Placement::kHeap);
  config = Config("ps", 1);
  EXPECT_EQ(SynchronizerFactory::GradientPlacement(config), Arena::Placement::kShared);
  config.job.ps_link = "grpc_uds";
  for (const auto& other : {Config("ring", 1), config, Config("local", 2)}) {
    EXPECT_EQ(SynchronizerFactory::GradientPlacement(other), Arena::Placement::kHeap);
  }
}

absl::StatusOr<SynchronizerFactory::Product> Make(const WorkerConfig& config,
                                                  const Membership& membership) {
  const BucketPlan plan = OneBucket();
  const auto gradients = *Arena::Create(3, Arena::Placement::kHeap);
  return (*SynchronizerFactory::Create(config))
      ->Make({&membership, &plan, gradients.get(), nullptr});
}

TEST(SynchronizerFactoryTest, OneRankTrainsAloneInLocalAndRing) {
  for (const char* strategy : {"local", "ring"}) {
    auto product = Make(Config(strategy, 1), {});
    ASSERT_TRUE(product.ok()) << product.status();
    std::vector<float> parameters = {1, 2, 3};
    const std::vector<float> gradients = {20, 20, 20};
    ASSERT_TRUE(product->synchronizer->Start(absl::MakeSpan(parameters)).ok());
    product->synchronizer->Submit({1, 0, 0, gradients, 1});
    ASSERT_TRUE(product->synchronizer->Finish(1).ok());
    EXPECT_EQ(parameters, (std::vector<float>{0, 1, 2})) << strategy;
    EXPECT_TRUE(product->synchronizer->traffic() == product->synchronizer->ExpectedTraffic(1));
    EXPECT_TRUE(product->synchronizer->Shutdown().ok());
  }
}

TEST(SynchronizerFactoryTest, BadInputIsNamed) {
  EXPECT_THAT(std::string(SynchronizerFactory::Create(Config("gossip", 2)).status().message()),
              HasSubstr("--strategy=gossip: must be one of ps, ring, local, data_parallel, nccl"));
  WorkerConfig config = Config("ring", 2);
  config.network.listen = "203.0.113.77";
  EXPECT_THAT(std::string(SynchronizerFactory::Create(config).status().message()),
              HasSubstr("203.0.113.77"));
}

TEST(SynchronizerFactoryTest, AMemberWithoutEndpointIsNamed) {
  Membership membership;
  for (int rank : {0, 1}) {
    Member* member = membership.add_workers();
    member->mutable_id()->set_role(ROLE_WORKER);
    member->mutable_id()->set_rank(rank);
  }
  EXPECT_THAT(std::string(Make(Config("ring", 2), membership).status().message()),
              HasSubstr("worker 0 published no usable"));
}

}  // namespace
}  // namespace ringside
