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

TEST(SynchronizerFactoryTest, ARingListensAndOthersDoNot) {
  EXPECT_THAT((*SynchronizerFactory::Create(Config("ring", 2)))->data_endpoint(),
              HasSubstr("127.0.0.1:"));
  EXPECT_EQ((*SynchronizerFactory::Create(Config("ring", 1)))->data_endpoint(), "");
  EXPECT_EQ((*SynchronizerFactory::Create(Config("ps", 2)))->data_endpoint(), "");
  EXPECT_EQ((*SynchronizerFactory::Create(Config("local", 2)))->data_endpoint(), "");
}

TEST(SynchronizerFactoryTest, OneRankTrainsAloneInLocalAndRing) {
  for (const char* strategy : {"local", "ring"}) {
    auto product = (*SynchronizerFactory::Create(Config(strategy, 1)))->Make({}, OneBucket());
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
              HasSubstr("--strategy=gossip: must be one of ps, ring, local"));
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
  auto product = (*SynchronizerFactory::Create(Config("ring", 2)))->Make(membership, OneBucket());
  EXPECT_THAT(std::string(product.status().message()), HasSubstr("worker 1 published no usable"));
}

}  // namespace
}  // namespace ringside
